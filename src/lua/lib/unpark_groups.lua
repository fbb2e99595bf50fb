-- A step of maintain.lua: unparks tasks of groups whose time has come (`limit_due`) or whose limits have changed
-- (`limit_dirty`, lib/limit_state.lua).
--
-- requires: base, budget, first_time, limit_state, strays
-- gives: unpark_groups
-- fields: unpark_groups

-- Groups whose limits have changed, then those whose time has come, until `max` tasks are unparked. Returns {more,
-- due}.
local function unpark_groups(P, now, max)
  local g, left, seen = limit_state(P, now), max, 0
  local more = tidy_groups(g, max)
  local function look_at(group)
    local unparked = look(g, group, math.min(max, math.max(left, 1)))
    left, seen = left - unparked, seen + 1
    budget.left = budget.left - 2 * unparked
    return left <= 0 or seen >= 8 and budget.left <= 0
  end
  for _, group in ipairs(call('ZRANGE', P .. 'limit_dirty', 0, max - 1)) do
    call('ZREM', P .. 'limit_dirty', group)
    more = true
    if look_at(group) then return {more = true} end
  end
  -- Limits changed again while the groups of an earlier change were not all handled.
  if call('EXISTS', P .. 'limit_dirty') == 0 and call('HDEL', P .. 'limit_state', 'again') == 1
    and call('EXISTS', P .. 'limit_due') == 1 then
    call('RENAME', P .. 'limit_due', P .. 'limit_dirty')
    more = true
  end
  for _, group in ipairs(call('ZRANGEBYSCORE', P .. 'limit_due', '-inf', text(now), 'LIMIT', 0, max)) do
    if look_at(group) then break end
  end
  local first = first_time(P, 'limit_due')
  return {more = more, due = first and first < LATEST and first or nil}
end
