#!lua flags=no-writes
-- minutes: what workers settled in a queue, minute by minute.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many minutes, up to the present one; at most 1440
-- reply    [1] now, in ms
--          [2...] for each minute in which workers told something: its number since the epoch, and its field in
--          minutes:<hour>: completed, failed, dead, waits, their ms, runs, their us
--
-- Example: KEYS reeve:{mail}:  ARGV 10
--   reply  1700000000000 28333333 "12 0 0 12 30 12 48000"   In that minute 12 tasks completed, after runs of 4 ms each.
--
-- Sent twice: it only reads.
-- require: base, whole

local minutes = whole(ARGV[1], 1, 1440)
if not KEYS[1] or not minutes then
  return redis.error_reply('ERR @NAME@: ARGV[1] is a number of minutes, from 1 to 1440')
end
local now = clock()
local last = math.floor(now / 60000)
local reply = {now}
for hour = math.floor((last - minutes + 1) / 60), math.floor(last / 60) do
  local fields = call('HGETALL', KEYS[1] .. 'minutes:' .. text(hour))
  -- An hour has at most 60 fields, unless another program wrote there.
  for i = 1, math.min(#fields, 240), 2 do
    local minute = whole(fields[i], 0, 59)
    local at = minute and hour * 60 + minute
    if at and at > last - minutes and at <= last then
      reply[#reply + 1] = at
      reply[#reply + 1] = fields[i + 1]
    end
  end
end
return reply
