-- New tasks that wait for others. They are linked to their parents when those that come in the same call are written.
--
-- requires: base, event, dependency_death, dependency_edges, dependency_register, readers, transitions
-- gives: link_children

-- A child that has no parent left to wait for: it dies of one, or is removed, as it waited for a death and none came.
local function end_blocked(P, id, died, now)
  if died then dies_of(P, id, died[1], died[2], now) else not_needed(P, id) end
end

-- Links a child. Returns whether it need not wait.
local function link(request, task)
  local P, id, now, states = request.P, task.id, request.now, request.parent_states
  local pending, died, policy = attach(P, id, task.options.after, now, states)
  -- A death may let others die, so that states which were looked up before no longer hold.
  if died then
    for parent_id in pairs(states) do states[parent_id] = nil end
  end
  if died and policy == 'x' then
    readers.unlink(P, id)
    return call('HDEL', P .. 'info:' .. id, 'death') == 1
  end
  if pending == 0 and not died and call('HDEL', P .. 'info:' .. id, 'death') == 0 then return true end
  request.waiting[id] = true
  enter_blocked(P, id, text(now))
  tell(P, 'blocked', id)
  if died or pending == 0 then return end_blocked(P, id, died, now) end
  call('HSET', P .. 'info:' .. id, 'pending', pending)
  if task.due and task.due > now then call('HSET', P .. 'info:' .. id, 'due', text(task.due)) end
end

-- Links request.children, and empties that list. Returns those that need not wait.
local function link_children(request)
  local children, free = request.children, {}
  request.children, request.waiting = nil, request.waiting or {}
  for _, task in ipairs(children) do
    if link(request, task) then free[#free + 1] = task end
    request.parent_states[task.id] = nil -- the child may have died, or be gone
  end
  return free
end
