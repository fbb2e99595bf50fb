-- Bulk inserts: a client that enqueues many plain tasks writes them itself, so that Lua does not read each of them. It
-- sends a transaction that adds the envelopes to `tasks` and the ids to the list of a segment (lib/segment.lua).
-- enqueue.lua, its last command, gives the segment its place in `ready`:
--
--   WATCH <prefix>bulk_closed:<p>
--   DEL <prefix>bulk_closed:<p>
--   MULTI
--   RPUSH <prefix>segment:<p> <id> ...
--   HSET <prefix>tasks <id> '{"at":<at>,"p":<p>,' and the rest of its envelope, ...
--   EVALSHA <enqueue> 1 <prefix> bulk <at> <p> <count>
--   EXEC
--
--   <at>     the time by Redis's clock, in ms, which the client derives from an earlier reply
--   <p>      the number of the segment, random
--   <count>  the number of tasks, @SEGMENT_MIN@ to @SEGMENT_MAX@. Their ids are new, so no other task has them. An
--            envelope has at most @LARGE@ bytes
--
-- The segment gets no place if <at> is older than @BULK_AGE_MAX@ ms or in the future, if the queue has groups, events
-- or payload_max, or if it has @SEGMENTS_MAX@ segments and the tasks are fewer than @SEGMENT_MANY@. Then
-- lib/bulk_fallback.lua removes the tasks again, and they are enqueued as if they were arguments.
--
-- If the reply is lost, the client closes the bulk insert: it sends SET <prefix>bulk_closed:<p>, and then the tasks as
-- arguments. Redis may read the transaction of the old connection later than that. It then aborts the transaction,
-- because the watched key changes after WATCH: by that SET, or, if SET came before WATCH, by the DEL above.
--
-- If a command of the script fails, because the user has no right to it or a key has a wrong type, the script removes
-- the tasks as far as the rights of the user allow, and returns the error.
--
-- requires: transitions_plain, wake_one
-- gives: place_segment

-- Gives the segment its place. Returns whether it has one now. It wakes a thread first, so that the segment has no
-- place if Redis refuses a command for that.
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

-- now: ms. Returns now, or an error; nil: the tasks are to be enqueued as arguments.
local function place_segment(P, now)
  local at, p, number, call = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), redis.call
  local late = at and number and now - at or -1
  if late < 0 or late > @BULK_AGE_MAX@ or number < @SEGMENT_MIN@ or number > @SEGMENT_MAX@ or
    call('LLEN', P .. 'segment:' .. p) ~= number then return end
  local good, placed = pcall(give_place, P, p, number)
  if good then return placed and now or nil end
  -- If the tasks cannot be removed, their list stays: it shows a repeated call that they have no place.
  local ids = redis.pcall('LRANGE', P .. 'segment:' .. p, '0', '-1')
  try_leave_ready_one(P, '+' .. p)
  redis.pcall('SREM', P .. 'segments', p)
  local removed = redis.pcall('HDEL', P .. 'tasks', unpack(ids))
  if type(removed) == 'number' then redis.pcall('UNLINK', P .. 'segment:' .. p) end
  return redis.error_reply(string.find(placed, '^%u+ ') and placed or 'ERR @NAME@: ' .. placed)
end
