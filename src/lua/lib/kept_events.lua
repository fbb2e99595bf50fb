-- What there is of a queue's events: now in ms, how many are kept by its setting, the id of the last one or "0-0", and
-- how many there are.
--
-- requires: base
-- gives: kept_events

local function kept_events(P, now)
  local found = redis.pcall('XREVRANGE', P .. 'events', '+', '-', 'COUNT', 1)
  local last, length = found[1], redis.pcall('XLEN', P .. 'events')
  local kept = tonumber(call('HGET', P .. 'settings', 'events')) or 0
  return {now, kept, last and last[1] or '0-0', type(length) == 'number' and length or 0}
end
