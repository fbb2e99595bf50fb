-- The careful path of enqueue.lua: links new tasks to their parents, after the parents of the same call were written.
--
-- requires: base, event, dependency_death, dependency_edges, dependency_register, readers, transitions
-- gives: link_children

-- Ends a child that does not wait: it dies if a parent died; or it is removed if it waited for the death of a parent
-- (policy "x", lib/dependency_edges.lua), and no parent died.
local function end_blocked(P, id, died, now)
  if died then dies_of(P, id, died[1], died[2], now) else not_needed(P, id) end
end

-- Links a child. Returns true if it does not wait and is to be queued; else it is blocked, or has ended.
local function link(request, task)
  local P, id, now, states = request.P, task.id, request.now, request.parent_states
  local pending, died, policy = attach(P, id, task.options.after, now, states)
  -- If the child dies, its own children may die, too, so the states that were looked up before may be outdated.
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

-- Links request.children, and clears that list. Returns the tasks that do not wait.
local function link_children(request)
  local children, free = request.children, {}
  request.children, request.waiting = nil, request.waiting or {}
  for _, task in ipairs(children) do
    if link(request, task) then free[#free + 1] = task end
    request.parent_states[task.id] = nil -- the child may have died, or have been removed
  end
  return free
end
