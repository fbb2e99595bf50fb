-- Strict groups: a task that has started keeps its group's slot (lib/limit_state.lua) until it has ended, also while it
-- waits for another attempt.
--
-- requires: add_to, base
-- gives: leave_slot

-- Releases the slot of a task, or its count in the concurrency of the group, if it has one. If tasks of the group are
-- parked, maintain.lua is asked to handle the group now.
local function leave_slot(P, id)
  local group = call('HGET', P .. 'running_group', id)
  if not group then return end
  call('HDEL', P .. 'running_group', id)
  if add_to(P .. 'group_running', group, -1) <= 0 then call('HDEL', P .. 'group_running', group) end
  if call('EXISTS', P .. 'parked:' .. group) == 1 then
    local now = clock()
    call('ZADD', P .. 'limit_due', text(now), group)
    announce_due(P, now)
  end
end
