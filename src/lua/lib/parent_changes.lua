-- Parents of a waiting task are added or removed. task: see lib/read_task.lua.
--
-- requires: base, control, dependency_death, dependency_edges, edge, dependency_register, event, history, messages
-- requires: open_edges
-- requires: readers, reads, transitions
-- gives: add_parents, remove_parents

-- The task waits for no parent any more. Where all its edges wait for a death, there was none.
local function let_go(P, id, now)
  if call('HEXISTS', P .. 'info:' .. id, 'death') == 1 then not_needed(P, id) else unblock(P, id, now) end
end

-- Removes one edge. Returns how many parents the task still waits for; nil: the edge did not count.
local function remove_parent(P, id, parent, restoring)
  local edge = call('HGET', P .. 'parents:' .. id, parent)
  if not edge then return nil end
  call('HDEL', P .. 'parents:' .. id, parent)
  local ended = sub(edge, 2, 2)
  if ended == 'c' then readers.undo(P, id, parent) end
  if ended ~= '-' then return nil end
  unlink_edge(P, own_queue(P), id, parent)
  return is_made(edge, restoring) and call('HINCRBY', P .. 'info:' .. id, 'pending', -1) or nil
end

-- given: handles from the third on. Returns the reply.
local function remove_parents(P, id, task, given)
  if task.state ~= 'blocked' then return 'ok' end
  local now, restoring, left = clock(), restoring_of(P, id), nil
  for i = 3, #given do left = remove_parent(P, id, canonical(given[i]), restoring) or left end
  if left and left <= 0 then let_go(P, id, now) end
  if call('EXISTS', P .. 'outbox') == 1 then announce_due(P, now) end
  return 'ok'
end

-- given: from the third on a handle and a policy, and so on. Returns the edges; or nil and the script's reply.
local function given_edges(given, state)
  local edges = {}
  for i = 3, #given, 2 do
    local handle, policy = given[i], given[i + 1] or ''
    if not find(policy, '^[fgwx][ge]?$') or not find(handle, '^![%w._-]*$') and not find(handle, '^[%w._~-]+/[%w._:-]+$') then
      return nil, redis.error_reply('ERR @NAME@: a parent is no handle with a policy')
    end
    -- A task that is to wait for a death and is not blocked has met it.
    if sub(policy, 1, 1) == 'x' and state ~= 'blocked' then return nil, state end
    edges[#edges + 1] = {canonical(handle), policy}
  end
  return edges
end

-- How many parents the task has when these have come. total: how many it has now. The placeholder "!" is no parent.
local function count_with(P, id, edges, total)
  local handles, known = {'!'}, {['!'] = true}
  for i = 1, #edges do handles[i + 1] = edges[i][1] end
  local there = call('HMGET', P .. 'parents:' .. id, unpack(handles))
  if there[1] then total = total - 1 end
  for i = 2, #handles do
    if not there[i] and not known[handles[i]] then total, known[handles[i]] = total + 1, true end
  end
  return total
end

-- A waiting task that was not blocked is, from now on.
local function block(P, id, task, now)
  leave_place(P, id, task.state, task.envelope)
  if task.state == 'scheduled' then call('HSET', P .. 'info:' .. id, 'due', text(task.score)) end
  note(P, id, now, 'blocked')
  tell(P, 'blocked', id)
  enter_blocked(P, id, text(now))
end

-- One of the new parents has died or is not known. policy: that of its edge.
local function meet_end(P, id, task, died, policy, pending, now)
  if policy == 'x' then
    if call('ZSCORE', P .. 'blocked', id) then readers.meet_death(P, id, now) end
    return
  end
  if task.state ~= 'blocked' and pending == 0 then leave_place(P, id, task.state, task.envelope) end
  dies_of(P, id, died[1], died[2], now)
end

-- Whether these are new parents for a batch that is closed. Those that it has may be given again: the call may be
-- repeated.
local function is_closed(P, id, edges)
  local handles = {'!'}
  for i = 1, #edges do handles[i + 1] = edges[i][1] end
  local there = call('HMGET', P .. 'parents:' .. id, unpack(handles))
  for i = 2, #handles do
    if not there[i] then return not there[1] end
  end
  return false
end

-- max: how many parents the task may have then; nil: any number. must_be_open: it is the callback of a batch. Returns
-- the reply.
local function add_parents(P, id, task, given, max, must_be_open)
  local was_blocked = task.state == 'blocked'
  if header(task.envelope, id).malformed then return 'malformed' end
  local edges, reply = given_edges(given, task.state)
  if not edges then return reply end
  if must_be_open and is_closed(P, id, edges) then return 'closed' end
  local now, states = clock(), {}
  local missing = missing_parent(P, edges, now, nil, states)
  if missing then return 'unknown ' .. missing end
  local before = call('HLEN', P .. 'parents:' .. id)
  local total = max and before + #edges > max and count_with(P, id, edges, before)
  if total and total > max then return 'parents ' .. text(total) end
  if not was_blocked and before > 0 then
    forget_open_edges(P, id, before)
    states = {} -- a record may have gone with them
    before = call('HLEN', P .. 'parents:' .. id)
  end
  -- The mark makes whoever ends the task remove what it knows of its parents.
  if #edges > 0 then mark_info(P, id, task.envelope) end
  local restoring = was_blocked and restoring_of(P, id) or nil
  local pending, died, policy = attach(P, id, edges, now, states, before, restoring)
  if pending > 0 and not was_blocked then block(P, id, task, now) end
  if pending ~= 0 then
    local left = call('HINCRBY', P .. 'info:' .. id, 'pending', text(pending))
    if left <= 0 and not died then let_go(P, id, now) end
  end
  if died then meet_end(P, id, task, died, policy, pending, now) end
  return 'ok'
end
