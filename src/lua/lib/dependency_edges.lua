-- Edges between tasks: a child is blocked until its parents have ended. An edge is a pair of a parent and a child, and
-- has a policy, which decides what the end of the parent means for the child.
--
--   blocked        zset  id -> since when, in ms
--   parents:<id>   hash  of a child: handle of a parent -> "<policy><how><position> <number>", an edge
--                        policy: f the child dies if the parent dies, is cancelled or deleted; g the child goes on; w
--                        the same as f, but if the parent dies or is cancelled, the child waits for a retry of it; x
--                        the child becomes ready at the first death of a parent, and is removed if all parents end
--                        without one. Of an unknown parent the child dies, whatever the policy is
--                        how: how the parent ended: - not yet, c completed, d dead, x cancelled, deleted, gone or
--                        unknown
--                        position: the position of the parent in the list that the producer gave
--                        number: of a parent in another queue, that of the message that registers the edge there; else
--                        a serial number. " e" comes before it if the parent may not have been enqueued yet. A message
--                        about an edge with another number is ignored, because it is about an earlier edge between the
--                        two tasks. There is no number if the parent had ended before, or an earlier version of reeve
--                        made the edge; then no message is ignored
--   info:<id>      of a blocked child. pending: how many parents have not ended; due: when it may run, if it has a
--                  time; death: set if an edge has the policy x; restoring: a number, while its edges are made again in
--                  steps (lib/restore.lua). These steps count as one of `pending`. Edges with lower numbers are not
--                  made again yet, and do not count
--   children:<id>  zset  of a parent: handles of its children -> the numbers of the edges. Earlier versions of reeve
--                        wrote the time in ms for children in the same queue
--   awaiting_retry:<id>  zset  the same for children with the policy w
--   linked         set   ids of tasks with one of these two sets. While there are any, settings.waiters is set, so that
--                        scripts notify children of ends
--   fanout         list  work for fan.lua, one entry each:
--                        "<n> <state> <id>": the children in fanout:<n> have to be notified that the task ended so
--                        "<n> cascade <id>": they have to be cancelled
--                        "<key> unlink <id> <cursor>": the task does not wait any more; its edges have to be removed
--                        "<number> restore <id> <cursor>": its edges have to be made again (lib/restore.lua)
--                        "<n> unread <id>": the task is no reader any more of the records in fanout:<n>
--   fanout_far     list  entries of fanout that wait, because they send many messages (lib/fan_out.lua)
--   outbox         list  messages to other queues (outbox.lua)
--
-- requires: add_to, base, edge, event, history, retention, messages, ready_last, readers, reads, schedule, slot, unique
-- requires: wake_one, put_aside, transitions
-- gives: HOW, children_of, edge_ended, leave_parents, not_needed, notify, readers.meet_death, readers.unlink
-- gives: restore_in_steps, restoring_of, tell_children, tell_end, unblock, unlink_edge, unlink_page
-- fields: announced, lets_go, meet_death, told, told_most, unlink

local HOW = {completed = 'c', dead = 'd', cancelled = 'x', deleted = 'x', unknown = 'x', gone = 'x'}
local AT_ONCE = @CHILDREN_AT_ONCE@
local notify

-- Sends a message that the parent of an edge has ended. number: of the edge.
local function tell_end(P, child, handle, state, number)
  send(P, 'E', child .. ' ' .. handle .. ' ' .. state .. ' ' .. text(tonumber(number)))
end

-- Lets fan.lua make the edges of a blocked child again, in steps (lib/restore.lua). Returns the value of `restoring`.
local function restore_in_steps(P, id, now)
  local number = serial(P)
  call('RPUSH', P .. 'fanout', number .. ' restore ' .. id .. ' 0')
  call('HSET', P .. 'info:' .. id, 'restoring', number)
  announce_due(P, now)
  return number
end

-- Returns `restoring` of a blocked child, or false. If another program wrote something that is no number there or into
-- `pending`, the edges of the child are made again, which counts them again.
local function restoring_of(P, id)
  local info = P .. 'info:' .. id
  local known = call('HMGET', info, 'restoring', 'pending')
  if (not known[1] or says_count(known[1])) and (not known[2] or says_count(known[2])) then return known[1] end
  call('HSET', info, 'pending', '1')
  return restore_in_steps(P, id, clock())
end

-- The cost of the notifications of this call, in units of about 10 us: 1 for each edge, and lets_go more for a child
-- that does not wait any more. From told_most on, the children of further completed tasks are notified in steps.
readers.told, readers.told_most, readers.lets_go = 0, 256, 3

-- The child does not wait any more: it becomes ready or scheduled. by: the handle of the last parent, or nil.
local function unblock(P, id, now, by)
  local info = P .. 'info:' .. id
  readers.told = readers.told + readers.lets_go
  leave_blocked(P, id)
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope then return end
  local known = call('HMGET', info, 'due', 'history')
  local due, o = tonumber(known[1]), header(envelope)
  call('HDEL', info, 'pending', 'due', 'death', 'restoring')
  call('HSET', info, 'history', history_with(known[2], history_entry(now, 'unblocked', nil, {by and 'by', by})))
  if o.malformed then return put_aside(P, id) end
  -- The clock may have been set back while it waited.
  local delay = due and tonumber(match(envelope, '^[^\n]-"type":"[^"]*","delay":(%d+)'))
  if delay then due = min(due, now + delay) end
  if due and due > now then
    schedule(P, id, due)
    return tell(P, 'unblocked', id, 'due', text(due))
  end
  ready_from(P, id, envelope, now)
  enter_ready_last(P, id, o)
  tell(P, 'unblocked', id)
  wake_one(P)
end

-- Removes the registration of a child with one parent.
local function unlink_edge(P, queue, id, parent)
  local theirs, parent_id = parts(parent)
  if not theirs then return end
  if theirs ~= queue then return send(P, 'U', queue .. '/' .. id .. ' ' .. parent) end
  local child = queue .. '/' .. id
  call('ZREM', P .. 'children:' .. parent_id, child)
  call('ZREM', P .. 'awaiting_retry:' .. parent_id, child)
  if call('EXISTS', P .. 'children:' .. parent_id, P .. 'awaiting_retry:' .. parent_id) == 0 then
    call('SREM', P .. 'linked', parent_id)
  end
end

-- Removes the registrations of some edges of a hash that have not ended. Returns the next cursor, and, with near,
-- whether edges to other queues were skipped. anew: the child may be blocked again, so edges that exist again stay.
-- near: edges to other queues are skipped.
local function unlink_page(P, key, id, cursor, most, anew, near)
  local queue, page, passed = own_queue(P), call('HSCAN', key, cursor, 'COUNT', most), false
  for i = 1, #page[2], 2 do
    local parent = page[2][i]
    local edge = anew and call('HGET', P .. 'parents:' .. id, parent)
    if sub(page[2][i + 1], 2, 2) == '-' and not (edge and sub(edge, 2, 2) == '-') then
      local far = near and (parts(parent) or queue) ~= queue
      if far then passed = true else unlink_edge(P, queue, id, parent) end
    end
  end
  return page[1], passed
end

-- Removes the registrations of a child with all parents that have not ended; if it has more than @EDGES_AT_ONCE@ edges,
-- in steps. goes: parents:<id> is about to be removed.
function readers.unlink(P, id, goes)
  local key = P .. 'parents:' .. id
  if call('HLEN', key) > readers.at_once then
    local name = 'parents:' .. id
    if goes then
      name = 'fanout:' .. serial(P)
      call('RENAME', key, P .. name)
    end
    call('RPUSH', P .. 'fanout', name .. ' unlink ' .. id .. ' 0')
  else
    -- HSCAN may return such a hash in several small pages.
    local cursor = '0'
    repeat cursor = unlink_page(P, key, id, cursor, readers.at_once) until cursor == '0'
  end
  if call('EXISTS', P .. 'outbox', P .. 'fanout') > 0 then announce_due(P, clock()) end
end

-- A parent of a child with the policy x died: the child does not wait any more. by: as above.
function readers.meet_death(P, id, now, by)
  readers.unlink(P, id)
  unblock(P, id, now, by)
end

-- Removes a child with the policy x: all its parents ended, and none died.
local function not_needed(P, id)
  readers.told = readers.told + readers.lets_go
  local envelope = call('HGET', P .. 'tasks', id)
  leave_blocked(P, id)
  call('ZREM', P .. 'deadlines', id)
  local o = envelope and header(envelope) or {}
  unlock(P, id, o, true)
  if o.group or o.malformed then leave_slot(P, id) end
  readers.release(P, id)
  redis.pcall('HINCRBY', P .. 'counters', 'enqueued_extra', 1)
  forget(P, {id})
  tell(P, 'deleted', id)
  notify(P, {id}, 'deleted')
end

-- A parent of the child has ended. A second notification of the same end does nothing. dies: the function dies_of of
-- lib/dependency_death.lua; not needed for "completed". number: of the edge, nil if it is not known. Returns whether
-- the child may read the record of the parent from now on.
local function edge_ended(P, id, parent, state, now, dies, number)
  local edge = call('HGET', P .. 'parents:' .. id, parent)
  if not edge or sub(edge, 2, 2) ~= '-' or not is_meant(edge, number) then return end
  local policy = sub(edge, 1, 1)
  if policy == 'w' and (state == 'dead' or state == 'cancelled') then return end
  call('HSET', P .. 'parents:' .. id, parent, policy .. HOW[state] .. sub(edge, 3))
  if not call('ZSCORE', P .. 'blocked', id) then return end
  local goes_on, restoring = state == 'completed' or state == 'gone' or policy == 'g' and state ~= 'unknown', nil
  if goes_on then restoring = restoring_of(P, id) else restoring = call('HGET', P .. 'info:' .. id, 'restoring') end
  if not is_made(edge, restoring) then
    if state == 'completed' then readers.read(P, id, parent, number) end
    return state == 'completed'
  end
  if goes_on then
    local left = call('HINCRBY', P .. 'info:' .. id, 'pending', -1)
    if left <= 0 and call('HEXISTS', P .. 'info:' .. id, 'death') == 1 then return not_needed(P, id) end
    if state == 'completed' then readers.read(P, id, parent, number) end
    if left <= 0 then unblock(P, id, now, parent) end
    return state == 'completed'
  end
  if policy == 'x' and state ~= 'unknown' then return readers.meet_death(P, id, now, parent) end
  dies(P, id, parent, state, now)
end

-- Lets fan.lua notify all children in a set, in steps.
local function fan_out(P, set, id, state, count)
  if (count or call('EXISTS', set)) == 0 then return end
  local n = serial(P)
  call('RENAME', set, P .. 'fanout:' .. n)
  call('RPUSH', P .. 'fanout', n .. ' ' .. state .. ' ' .. id)
  if state == 'completed' then readers.add(P, id, {'0', '#' .. n}) end
  if readers.announced ~= P then announce_due(P, clock()) end
  readers.announced = P
end

-- A task with children has ended: notifies them, at once or in steps. state: completed, dead, cancelled or deleted; or
-- "cascade": the children are cancelled with it.
local function tell_children(P, id, state)
  local children, awaiting_retry = P .. 'children:' .. id, P .. 'awaiting_retry:' .. id
  local final = state ~= 'dead' and state ~= 'cancelled' or call('HEXISTS', P .. 'tasks', id) == 0
  if final or call('EXISTS', awaiting_retry) == 0 then call('SREM', P .. 'linked', id) end
  local count, awaiting, all = nil, nil, 0
  if state == 'completed' then
    count, awaiting = call('ZCARD', children), call('ZCARD', awaiting_retry)
    all = count + awaiting
  end
  readers.told = readers.told + all
  if state ~= 'completed' or all > AT_ONCE or readers.told > readers.told_most then
    fan_out(P, children, id, state, count)
    if final then fan_out(P, awaiting_retry, id, (state == 'completed' or state == 'cascade') and state or 'deleted', awaiting) end
    return
  end
  local queue, now, sent, reading = own_queue(P), clock(), false, {}
  local handle = queue .. '/' .. id
  for _, set in ipairs({children, awaiting_retry}) do
    local list = call('ZRANGE', set, 0, -1, 'WITHSCORES')
    for i = 1, #list, 2 do
      local theirs, child_id = parts(list[i])
      if theirs == queue then
        if edge_ended(P, child_id, handle, state, now, nil, list[i + 1]) then
          reading[#reading + 1], reading[#reading + 2] = '0', list[i]
        end
      else
        tell_end(P, list[i], handle, state, list[i + 1])
        reading[#reading + 1], reading[#reading + 2] = list[i + 1], list[i]
        sent = true
      end
    end
    call('DEL', set)
  end
  if #reading > 0 then readers.add(P, id, reading) else readers.let_go(P, id) end
  if sent then announce_due(P, now) end
end

-- The number of children that wait for a task.
local function children_of(P, id)
  if call('SISMEMBER', P .. 'linked', id) == 0 then return 0 end
  return call('ZCARD', P .. 'children:' .. id) + call('ZCARD', P .. 'awaiting_retry:' .. id)
end

-- A child does not wait any more, because it ends, is moved, or is removed. goes: it is removed, with parents:<id>.
local function leave_parents(P, id, goes)
  leave_blocked(P, id)
  call('HDEL', P .. 'info:' .. id, 'pending', 'due', 'death', 'restoring')
  readers.unlink(P, id, goes)
end

-- Notifies clients and children that wait for tasks of the ends of these. Scripts call it only while settings.waiters
-- is set, or for ends that are not frequent.
function notify(P, ids, state)
  for i = 1, #ids do
    if call('ZREM', P .. 'waiters', ids[i]) == 1 then
      publish(P, P .. 'done:' .. ids[i], state)
    end
  end
  local linked = call('SMISMEMBER', P .. 'linked', unpack(ids))
  -- The ends themselves take time, too: in a call with more than 64 ends, fewer children are notified at once.
  readers.lets_go = max(readers.lets_go, 3 + math.floor((#ids - 64) / 16))
  for i = 1, #ids do
    if linked[i] == 1 then tell_children(P, ids[i], state) end
  end
end
