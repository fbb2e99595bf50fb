#!lua flags=no-writes
-- stats: what was done in a queue on some days.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the first day, in days since the epoch; or 0: today, -1: yesterday, and so on
-- ARGV[2]  how many days, at most 400
-- reply    [1] the first day
--          [2...] for each day: {field, number, ...}; fewer days than asked for, but at least one, where they have many
--          fields
--
-- Sent twice: it only reads.
-- require: base, absent, whole

local first, days = whole(ARGV[1], -100000000, 100000000), whole(ARGV[2], 0, LATEST)
if not KEYS[1] or not first or not days then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are a day and how many days')
end
days = math.min(days, 400)
if first <= 0 then first = first + math.floor(clock() / @ONE_DAY_MS@) end
-- What a call returns takes Redis some 0.4 us a field.
local reply, left = {first}, 6000
for day = first, first + days - 1 do
  local fields = call('HGETALL', KEYS[1] .. 'stats:' .. text(day))
  reply[#reply + 1] = fields
  left = left - #fields / 2
  if left <= 0 then break end
end
return reply
