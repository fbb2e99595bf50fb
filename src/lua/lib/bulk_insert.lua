-- Bulk inserts: a client that enqueues many plain tasks writes them itself, so that Lua does not read each of them. A
-- transaction puts their envelopes into `tasks` and their ids into the list of a segment (lib/segment.lua); enqueue.lua
-- then gives the segment its place:
--
--   WATCH <prefix>bulk_closed:<p>
--   DEL <prefix>bulk_closed:<p>
--   MULTI
--   RPUSH <prefix>segment:<p> <id> ...
--   HSET <prefix>tasks <id> '{"at":<at>,"p":<p>,' and the rest of its envelope, ...
--   EVALSHA <enqueue> 1 <prefix> bulk <at> <p> <count>
--   EXEC
--
-- The ids are new ones that no other task has. An envelope has at most @LARGE@ bytes. p is a random number. at is the
-- time by Redis's clock, as the client reckons it from an earlier reply. Where it is not of the last second, where the
-- queue has groups, events or a limit of payloads, or @SEGMENTS_MAX@ segments while these tasks are few,
-- lib/bulk_fallback.lua takes the tasks out again, and they are enqueued as if they had come as arguments.
--
-- When the reply is lost, the client sends the tasks as arguments, after SET <prefix>bulk_closed:<p>. Redis may read
-- the transaction of the old connection only after that. It is not carried out then, as the watched key was changed
-- behind WATCH: by that SET; or, where SET came before WATCH, by the transaction's own DEL.
--
-- A command that fails (the user has no right to it, or a key has another type) ends the call, and the tasks are
-- removed as far as that user may.
--
-- requires: transitions_plain, wake_one
-- gives: place_segment

-- Gives the segment its place. Returns whether it has one now. A thread is woken first: where that is refused, the
-- tasks have no place yet.
local function give_place(P, p, number)
  local call, format = redis.call, string.format
  if number < @SEGMENT_MANY@ and call('SCARD', P .. 'segments') >= @SEGMENTS_MAX@ then return false end
  local tail = call('HINCRBY', P .. 'sequence', 'next', format('%d', @SCORE_STEP@ * number))
  local first = tail <= @SCORE_START@
  if first then
    local order = call('HMGET', P .. 'sequence', '0', 'groups', 'events', 'payload_max')
    if order[2] or order[3] or order[4] then return false end
    tail = (tonumber(order[1]) or @SCORE_START@) + @SCORE_STEP@ * number
  end
  if tail >= @SCORE_BAND@ then return false end
  local last = format('%d', tail)
  if first and call('LLEN', P .. 'wake') == 0 then
    call('HSET', P .. 'sequence', 'segment', p .. ' ' .. last, '0', last)
    wake_one(P)
  elseif first then
    call('HSET', P .. 'sequence', 'segment', p .. ' ' .. last, 'next', last)
  else
    call('HSET', P .. 'sequence', 'segment', p .. ' ' .. last)
  end
  enter_ready_segment(call, P, p, format('%d', tail - @SCORE_STEP@ * (number - 1)))
  return true
end

-- now: ms. Returns now, or an error; nil: the tasks are to be enqueued as if they had come as arguments.
local function place_segment(P, now)
  local at, p, number, call = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), redis.call
  local late = at and number and now - at or -1
  if late < 0 or late > @BULK_AGE_MAX@ or number < @SEGMENT_MIN@ or number > @SEGMENT_MAX@ or
    call('LLEN', P .. 'segment:' .. p) ~= number then return end
  local good, placed = pcall(give_place, P, p, number)
  if good then return placed and now or nil end
  -- Where the tasks cannot be removed, their list stays: by it a repeated call finds that they have no place.
  local ids = redis.pcall('LRANGE', P .. 'segment:' .. p, '0', '-1')
  try_leave_ready_one(P, '+' .. p)
  redis.pcall('SREM', P .. 'segments', p)
  local removed = redis.pcall('HDEL', P .. 'tasks', unpack(ids))
  if type(removed) == 'number' then redis.pcall('UNLINK', P .. 'segment:' .. p) end
  return redis.error_reply(string.find(placed, '^%u+ ') and placed or 'ERR @NAME@: ' .. placed)
end
