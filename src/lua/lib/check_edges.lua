-- Findings about tasks that wait for others (lib/dependency_edges.lua describes the keys). lib/check_states.lua says
-- what a finding is. What is done in steps is recorded in `fanout` and `fanout_far`, and messages are in `outbox` and
-- `unread`: where these are long, what they are about is taken for in progress.
--
-- requires: base, edge, messages
-- gives: find_blocked_pending, find_child_stray, find_child_untold, find_edge_far, find_edge_known, find_edge_malformed
-- gives: find_edge_untold
-- gives: find_fanout_lost, find_linked_missing, find_linked_stale

local STEPS_MAX, MESSAGES_MAX, EDGES_MAX = 200, 100, 1000

-- The first element of some lists that `is_wanted`; or true where the lists are too long.
local function search(P, lists, most, is_wanted)
  for _, name in ipairs(lists) do
    if call('LLEN', P .. name) > most then return true end
    for _, element in ipairs(call('LRANGE', P .. name, '0', '-1')) do
      if is_wanted(element) then return element end
    end
  end
end

local function is_step(P, is_wanted)
  return search(P, {'fanout', 'fanout_far'}, STEPS_MAX, is_wanted)
end

-- Whether the end of a task will be told to a child that waits for it by this edge.
local function is_registered(P, id, child, edge)
  for _, set in ipairs({'children:', 'awaiting_retry:'}) do
    local number = call('ZSCORE', P .. set .. id, child)
    if number and is_meant(edge, number) then return true end
  end
  return is_step(P, function(step)
    local name, rest = match(step, '^(%d+) %a+ ' .. id:gsub('%p', '%%%0') .. ' ?(%S*)$')
    return name and (call('ZSCORE', P .. 'fanout:' .. name, child) or rest ~= '' and call('ZSCORE', P .. 'fanout:' .. rest, child))
  end)
end

-- An edge of a blocked task that has not ended, and counts; nil: it is none. subject: "<handle of the parent>
-- parents:<id>".
local function open_edge(P, subject)
  local parent, id, number = match(subject, '^(%S+) parents:(%S+) ?(%d*)$')
  local edge = id and call('ZSCORE', P .. 'blocked', id) and call('HGET', P .. 'parents:' .. id, parent)
  if not edge or sub(edge, 2, 2) ~= '-' or not is_made(edge, call('HGET', P .. 'info:' .. id, 'restoring')) then return end
  if number ~= '' and match(edge, ' (%d+)$') ~= number then return end
  return edge, parent, id
end

-- edge_malformed: "<field> parents:<id>", and the field is no edge. A field that begins with "!" is a placeholder or a
-- signal.
local function find_edge_malformed(P, subject)
  local field, id = match(subject, '^(.*) parents:(%S+)$')
  local edge = id and call('HGET', P .. 'parents:' .. id, field)
  if not edge then return end
  local is_edge = (find(field, '^![%w._-]*$') or parts(field)) and (find(edge, '^[fgwx][-cdx]%d+$') or find(edge, '^[fgwx][-cdx]%d+ %d+$') or
    find(edge, '^[fgwx][-cdx]%d+ e %d+$'))
  return not is_edge and '' or nil
end

-- edge_untold: a parent in this queue does not know a child that waits for it.
local function find_edge_untold(P, subject)
  local edge, parent, id = open_edge(P, subject)
  local queue, parent_id = parts(parent or '')
  if not edge or queue ~= own_queue(P) or is_registered(P, parent_id, queue .. '/' .. id, edge) then return end
  return call('HEXISTS', P .. 'tasks', parent_id) == 1 and 'does not know it' or 'does not exist'
end

-- edge_far: "<handle of the parent> parents:<id> <number>", the parent is in another queue, and no message about the
-- edge waits here. It is a finding where the other queue, asked next, finds no `edge_known`.
local function find_edge_far(P, subject)
  local edge, parent, id = open_edge(P, subject)
  local queue = parts(parent or '')
  local number = edge and match(edge, ' (%d+)$')
  if not number or not queue or queue == own_queue(P) then return end
  local words = ' ' .. number .. ' ' .. own_queue(P) .. '/' .. id .. ' '
  -- R, or V with the parent, which has been moved.
  local is_sent = search(P, {'outbox', 'unread'}, MESSAGES_MAX, function(message)
    return find(message, words, 2, true) == 2 or find(message, '^V ') and find(message, number, 1, true)
  end)
  return not is_sent and number or nil
end

-- edge_known is no finding. "<handle of the child> <id> <number>": this queue will tell the child of another one, or
-- another task has taken the place of the parent, of which the child hears.
local function find_edge_known(P, subject)
  local child, id, number = match(subject, '^(%S+) (%S+) (%d+)$')
  if not child then return end
  if call('EXISTS', P .. 'replaced_by:' .. id) == 1 or is_registered(P, id, child, 'f-0 ' .. number) then return '' end
  local words = ' ' .. child .. ' ' .. own_queue(P) .. '/' .. id .. ' '
  return search(P, {'outbox', 'unread'}, MESSAGES_MAX, function(message)
    return find(message, '^[EM] ') and find(message, words, 1, true)
  end) and '' or nil
end

-- blocked_pending: a blocked task waits for another number of parents than it has; or its edges are never made again.
local function find_blocked_pending(P, id)
  local key, info = P .. 'parents:' .. id, P .. 'info:' .. id
  if not call('ZSCORE', P .. 'blocked', id) or call('HEXISTS', P .. 'tasks', id) == 0 or call('HLEN', key) > EDGES_MAX then return end
  local known, count, edges = call('HMGET', info, 'pending', 'restoring'), 0, call('HGETALL', key)
  local pending, restoring = known[1] or 'none', known[2]
  for i = 2, #edges, 2 do
    if sub(edges[i], 2, 2) == '-' and is_made(edges[i], restoring) then count = count + 1 end
  end
  if restoring then
    count = count + 1
    local is_left = is_step(P, function(step) return find(step, restoring .. ' restore ' .. id .. ' ', 1, true) == 1 end)
    if not is_left then return 'its edges are to be made again' end
  end
  return pending ~= text(count) and pending .. ', not ' .. text(count) or nil
end

-- child_stray: "<handle> children:<id>" or "<handle> awaiting_retry:<id>", and the child, of this queue, does not wait
-- for the task.
local function find_child_stray(P, subject)
  local child, set, id = match(subject, '^(%S+) (%l+_?%l*):(.*)$')
  local queue, child_id = parts(child or '')
  if not id or queue ~= own_queue(P) or not call('ZSCORE', P .. set .. ':' .. id, child) then return end
  local edge = call('HGET', P .. 'parents:' .. child_id, queue .. '/' .. id)
  if edge and sub(edge, 2, 2) == '-' then return end
  local words = ' unlink ' .. child_id .. ' '
  return not is_step(P, function(step) return find(step, words, 1, true) end) and '' or nil
end

-- child_untold: tasks wait for one that has completed. Those that wait for a dead or cancelled one may do so until it
-- is retried.
local function find_child_untold(P, id)
  if call('EXISTS', P .. 'children:' .. id, P .. 'awaiting_retry:' .. id) == 0 or call('HEXISTS', P .. 'tasks', id) == 0 then return end
  return (call('ZSCORE', P .. 'completed', id) or call('ZSCORE', P .. 'retained', id)) and '' or nil
end

-- linked_missing: `linked` lacks a task that has children.
local function find_linked_missing(P, id)
  if call('EXISTS', P .. 'children:' .. id, P .. 'awaiting_retry:' .. id) == 0 then return end
  return call('SISMEMBER', P .. 'linked', id) == 0 and '' or nil
end

-- linked_stale: `linked` has a task without children.
local function find_linked_stale(P, id)
  if call('SISMEMBER', P .. 'linked', id) == 0 then return end
  return call('EXISTS', P .. 'children:' .. id, P .. 'awaiting_retry:' .. id) == 0 and '' or nil
end

-- fanout_lost: no step is about fanout:<n>.
local function find_fanout_lost(P, n)
  if call('EXISTS', P .. 'fanout:' .. n) == 0 then return end
  local first, key, last = '^' .. n .. ' ', '^fanout:' .. n .. ' ', ' ' .. n .. '$'
  return not is_step(P, function(step) return find(step, first) or find(step, key) or find(step, last) end) and '' or nil
end
