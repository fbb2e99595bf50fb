-- Adds to the statistics of the day what no worker tells of. Needs base.
local function add_stat(P, now, field, more)
  local days = tonumber(call('HGET', P .. 'settings', 'stats_days')) or 30
  if days <= 0 then return end
  local day = math.floor(now / 86400000)
  local key = P .. 'stats:' .. text(day)
  call('HINCRBY', key, field, more)
  call('EXPIREAT', key, text((day + 1 + days) * 86400))
end
