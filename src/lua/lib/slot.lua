-- Strict groups: a task that has started keeps its group's slot (lib/limit_state.lua) until it has ended, also while it
-- waits for another attempt.
--
-- requires: add_to, base
-- gives: call_group, groups_in, leave_slot

-- The groups of a value of `running_group`: their names, with a zero byte between two.
local function groups_in(record)
  return string.gmatch(record or '', '%Z+')
end

-- If tasks of a group are parked, maintain.lua is asked to handle the group now.
local function call_group(P, group)
  if call('EXISTS', P .. 'parked:' .. group) == 1 then
    local at = clock()
    call('ZADD', P .. 'limit_due', text(at), group)
    announce_due(P, at)
  end
end

-- Releases the slots of a task, or its count in the concurrency of its groups. If tasks of a group are parked,
-- maintain.lua is asked to handle the group now. stays: a function that returns whether it keeps its slot in a group, or
-- nil.
local function leave_slot(P, id, stays)
  local record, kept = call('HGET', P .. 'running_group', id), {}
  if not record then return end
  call('HDEL', P .. 'running_group', id)
  for group in groups_in(record) do
    if stays and stays(group) then
      kept[#kept + 1] = group
      call('HSET', P .. 'running_group', id, table.concat(kept, '\0'))
    elseif add_to(P .. 'group_running', group, -1) <= 0 then
      call('HDEL', P .. 'group_running', group)
    end
    call_group(P, group)
  end
end
