-- Adds to the statistics of the day what no worker tells of: names and numbers. Where a field is no number, that one is
-- not added.
--
-- requires: base
-- gives: add_stats

local function add_stats(P, now, ...)
  local days, said = tonumber(call('HGET', P .. 'settings', 'stats_days')) or 30, {...}
  if days <= 0 then return end
  local day = math.floor(now / @ONE_DAY_MS@)
  local key = P .. 'stats:' .. text(day)
  for i = 1, #said, 2 do redis.pcall('HINCRBY', key, said[i], said[i + 1]) end
  redis.pcall('EXPIREAT', key, text((day + 1 + days) * 86400))
end
