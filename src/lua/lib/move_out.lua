-- What a task takes along that goes to another queue (move.lua, arrive.lua).
--
-- An edge to a parent is a list of texts: {handle, policy, place, number, state}. Of a parent of the queue that the
-- task leaves, policy is its letter alone; number is that of the edge from now on, or ""; state: how the parent has
-- ended, or "": it is waited for. Of other parents, policy has the letter and what holds for a parent that is not known
-- (lib/far_edge.lua), and both are "". A child is {handle, letter, number}.
--
-- requires: base, dependency_register, far_edge, messages, readers, replacements, retention
-- gives: edges_to_move, hand_children, hand_parents, info_to_move

-- How an edge is made again: it waited until now; or the task has ended and waits again; or the parent's result may be
-- read. A task that was retried waits for parents that have died, too (lib/restore.lua).
local function mode_of(state, letter, how, is_retried)
  local ended = state == 'dead' or state == 'cancelled'
  if how == '-' and state == 'blocked' then return is_retried and 'r' or 'e' end
  if how == 'c' then return state ~= 'completed' and 'g' or nil end
  if not ended or letter == 'x' then return nil end
  return how == '-' and 'r' or 'd'
end

-- nil: a parent is still to be named.
local function edges_to_move(P, id, state, to)
  local known, edges = call('HGETALL', P .. 'parents:' .. id), {}
  local is_retried = find(call('HGET', P .. 'info:' .. id, 'history') or '', '"what":"retried"', 1, true)
  for i = 1, #known, 2 do
    local letter, how, place = match(known[i + 1], '^(%a)(.)(%d+)')
    local mode = letter and mode_of(state, letter, how, is_retried)
    if mode and known[i] == '!' then return nil end
    local theirs = parts(known[i])
    if (mode == 'e' or mode == 'r' and how == '-') and theirs and theirs ~= own_queue(P) then
      local said = if_unknown(P, known[i + 1])
      if mode == 'e' or said ~= 'g' then mode = said end
    end
    if mode and known[i] ~= to then edges[#edges + 1] = {known[i], letter .. mode, place, '', ''} end
  end
  table.sort(edges, function(one, other) return tonumber(one[3]) < tonumber(other[3]) end)
  return edges
end

-- Parents of this queue tell the task there from now on; of one that has completed it may read the result there.
local function hand_parents(P, edges, to, now)
  local number, states = nil, {}
  for _, edge in ipairs(edges) do
    local theirs, parent_id = parts(edge[1])
    if theirs == own_queue(P) then
      local policy = edge[2]
      local state = how_ended(P, parent_id, policy, states, now)
      -- It had completed, and runs again.
      if not state and sub(policy, 2, 2) == 'g' then state = 'completed' end
      edge[2], edge[5] = sub(policy, 1, 1), state or ''
      local is_read = states[parent_id] == 'completed'
      if not state or is_read then
        number = number or serial(P)
        edge[4] = number
      end
      if not state then register(P, parent_id, to, policy, number) end
      if state and is_read then readers.add(P, parent_id, {number, to}) end
    end
  end
end

-- Those of this queue that wait for the task wait for it there from now on.
local function hand_children(P, id, from, to)
  local children, number = {}, nil
  for _, set in ipairs({'children:', 'awaiting_retry:'}) do
    local list = call('ZRANGE', P .. set .. id, 0, -1, 'WITHSCORES')
    local letter = set == 'children:' and 'f' or 'w'
    for i = 1, #list, 2 do
      local theirs, child = parts(list[i])
      if theirs ~= own_queue(P) then
        children[#children + 1] = {list[i], letter, text(tonumber(list[i + 1]))}
      else
        number = number or serial(P)
        local edge = call('HGET', P .. 'parents:' .. child, from)
        if edge and sub(edge, 2, 2) == '-' and hand_edge(P, child, from, to, number) then
          children[#children + 1] = {list[i], letter, number}
        end
      end
    end
    call('DEL', P .. set .. id)
  end
  call('SREM', P .. 'linked', id)
  return children
end

local STAYS = ' place pending due death restoring run revoked revoked_at '
local FORGOTTEN = ' failures crashes alone progress progress_message '

-- The fields of info:<id> that go along: name, value, ...
local function info_to_move(P, id, state)
  local known, info = call('HGETALL', P .. 'info:' .. id), {}
  local again = state == 'dead' or state == 'completed'
  for i = 1, #known, 2 do
    local name = ' ' .. known[i] .. ' '
    if not find(STAYS, name, 1, true) and not (again and find(FORGOTTEN, name, 1, true)) then
      info[#info + 1], info[#info + 2] = known[i], known[i + 1]
    end
  end
  return info
end
