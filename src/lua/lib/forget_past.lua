-- Removes members whose time is over from a sorted set of times: `waiters`, `paused_groups`, `rates`.
--
-- requires: base
-- gives: forget_past

-- Returns whether there may be more than `max`.
local function forget_past(P, set, now, max)
  local past = call('ZRANGEBYSCORE', P .. set, '-inf', text(now), 'LIMIT', 0, max)
  if #past > 0 then call('ZREM', P .. set, unpack(past)) end
  return #past == max
end
