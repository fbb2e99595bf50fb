#!lua flags=no-writes
-- minutes: what workers settled in a queue, minute by minute.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many minutes, up to the present one; at most 1440
-- ARGV[2]  `times`: with the times of each five minutes; absent: without
-- reply    [1] now, in ms
--          [2] for each minute in which workers told something: its number since the epoch, and its field in
--          minutes:<hour>: completed, failed, dead, waits, their ms, runs, their us
--          [3] for each five minutes that have times: their number since the epoch, `wait` or `run`, and their field in
--          minutes:<hour>: the sum of the times in ms or us, and how many are in each bucket
--
-- Example: KEYS reeve:{mail}:  ARGV 10 times
--   reply  1700000000000 {28333333 "12 0 0 12 30 12 48000"} {5666666 wait "30 0 0 12" 5666666 run "48000 0 0 12"}
--                        In that minute 12 tasks completed, after waits of 2.5 ms and runs of 4 ms each.
--
-- Sent twice: it only reads.
-- require: base, whole

local minutes, with_times = whole(ARGV[1], 1, 1440), ARGV[2] == 'times'
if not KEYS[1] or not minutes then
  return redis.error_reply('ERR @NAME@: ARGV[1] is a number of minutes, from 1 to 1440')
end
local now = clock()
local last = math.floor(now / 60000)
local found, times = {}, {}

local function add_times(hour, field, value)
  local name, number = string.match(field, '^(%a+):(%d+)$')
  local five = (name == 'wait' or name == 'run') and whole(number, 0, 11)
  local at = five and hour * 12 + five
  if not at or 5 * at + 4 <= last - minutes or 5 * at > last then return end
  times[#times + 1] = at
  times[#times + 1] = name
  times[#times + 1] = value
end

for hour = math.floor((last - minutes + 1) / 60), math.floor(last / 60) do
  local fields = call('HGETALL', KEYS[1] .. 'minutes:' .. text(hour))
  -- An hour has at most 84 fields, unless another program wrote there.
  for i = 1, math.min(#fields, 240), 2 do
    local minute = whole(fields[i], 0, 59)
    local at = minute and hour * 60 + minute
    if at and at > last - minutes and at <= last then
      found[#found + 1] = at
      found[#found + 1] = fields[i + 1]
    elseif with_times and not minute then
      add_times(hour, fields[i], fields[i + 1])
    end
  end
end
return {now, found, times}
