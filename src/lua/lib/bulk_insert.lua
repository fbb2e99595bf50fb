-- Tasks that were laid: who brings many at once spares Lua the sight of them. Commands of a transaction put their
-- envelopes into `tasks` and their ids into the list of a packet (lib/segment.lua), and enqueue.lua then gives that its place:
--
--   WATCH <prefix>laid:<p>
--   DEL <prefix>laid:<p>
--   MULTI
--   RPUSH <prefix>packet:<p> <id> ...
--   HSET <prefix>tasks <id> '{"at":<at>,"p":<p>,' and the rest of its envelope, ...
--   EVALSHA <enqueue> 1 <prefix> laid <at> <p> <count>
--   EXEC
--
-- The ids are new ones that nobody else has, an envelope no larger than @LARGE@ bytes, p a random number. at: the time by
-- Redis's clock, as an earlier reply told it and the caller's own has gone on: what is not of the last second is set right.
-- Where anything is not common (there are groups, or 1000 packets and these are few) the tasks are taken up again, and
-- then enqueued as if they had come as arguments.
--
-- Tasks whose reply was lost are sent again as arguments, after SET <prefix>laid:<p>: should Redis come to the transaction
-- on the old connection only then, it comes to nothing, whether that key was set since it was watched or before.
--
-- What the user may not call, or a key of another type, ends the call, and the tasks that were laid are taken back as far as
-- that user may.
--
-- requires: wake_one
-- gives: place_packet

-- Gives them their place; false: they cannot have it as they are. First somebody is woken: where that is refused the tasks
-- have no place yet.
local function lay(P, p, number)
  local call, format = redis.call, string.format
  if number < @PACKET_MANY@ and call('SCARD', P .. 'packets') >= @PACKETS_MAX@ then return false end
  local tail = call('HINCRBY', P .. 'order', 'next', format('%d', @SCORE_STEP@ * number))
  local first = tail <= @SCORE_START@
  if first then
    local told = call('HMGET', P .. 'order', '0', 'groups', 'events')
    if told[2] or told[3] then return false end
    tail = (tonumber(told[1]) or @SCORE_START@) + @SCORE_STEP@ * number
  end
  if tail >= @SCORE_BAND@ then return false end
  local last = format('%d', tail)
  if first and call('LLEN', P .. 'wake') == 0 then
    call('HSET', P .. 'order', 'packet', p .. ' ' .. last, '0', last)
    wake_one(P)
  elseif first then
    call('HSET', P .. 'order', 'packet', p .. ' ' .. last, 'next', last)
  else
    call('HSET', P .. 'order', 'packet', p .. ' ' .. last)
  end
  call('SADD', P .. 'packets', p)
  call('ZADD', P .. 'ready', format('%d', tail - @SCORE_STEP@ * (number - 1)), '+' .. p)
  return true
end

-- now: in ms. Returns now, or an error; nil: these are to be enqueued as if they had come as arguments.
local function place_packet(P, now)
  local at, p, number, call = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), redis.call
  local late = at and number and now - at or -1
  if late < 0 or late > @BULK_AGE_MAX@ or number < @PACKET_MIN@ or number > @PACKET_MAX@ or
    call('LLEN', P .. 'packet:' .. p) ~= number then return end
  local good, placed = pcall(lay, P, p, number)
  if good then return placed and now or nil end
  local ids = redis.pcall('LRANGE', P .. 'packet:' .. p, '0', '-1')
  redis.pcall('ZREM', P .. 'ready', '+' .. p)
  redis.pcall('SREM', P .. 'packets', p)
  redis.pcall('HDEL', P .. 'tasks', unpack(ids))
  redis.pcall('UNLINK', P .. 'packet:' .. p)
  return redis.error_reply(string.find(placed, '^%u+ ') and placed or 'ERR @NAME@: ' .. placed)
end
