-- Edges between tasks: a child waits in `blocked` until its parents have ended.
--
--   blocked        zset  id -> when it came
--   parents:<id>   hash  of a child: a parent's handle -> "<policy><how><place>", a blank and the edge's number: of a
--                        parent in another queue that of the message that registers the edge there, else a serial
--                        number; before the number " e" where that parent may have yet to come. What is told of an
--                        edge with another number does not count: it is an earlier one between the two. An edge has no
--                        number when its parent had ended before, and when an earlier version made it; then all counts.
--                        Policy: f the child fails when the parent dies (or is cancelled or deleted), g it goes on, w
--                        it waits for a retry, x it becomes ready at the first death and is removed when there is none.
--                        How it ended: - not yet, c completed, d dead, x cancelled or gone. Place: where it stood among
--                        those given.
--   info:<id>      while it waits, `pending`: how many have not ended; `due`: when it may run, if it has a time;
--                  `death`: it waits for a death (policy x), and is removed when there is none; `restoring`: a
--                  number: its edges are made again, in steps (lib/restore.lua), which counts as one of `pending`;
--                  those with lower numbers are still to be made, and do not count
--   children:<id>  zset  of a parent: handles of children that wait for it -> the edge's number, of which earlier
--                        versions have the time in ms for children in the own queue; awaiting_retry:<id>: those of
--                        policy w
--   linked         set   ids with such children; while there are any, settings.waiters is set, so that ends are told
--   fanout         list  "<n> <state> <id>": the children in fanout:<n> are to be told that the task ended so; "<n>
--                        cascade <id>": they are to be cancelled; "<key> unlink <id> <cursor>": the child does not wait
--                        any more; "<number> restore <id> <cursor>": lib/restore.lua; "<n> unread <id>": the task does
--                        not read those in fanout:<n> any more. See fan.lua
--   fanout_far     list  such entries that are put off, for they send messages and there are many (lib/fan_out.lua)
--   reads:<id>, settings.reads: lib/reads.lua
--   outbox         list  messages to other queues, see outbox.lua
--
-- requires: add_to, base, edge, event, history, retention, messages, ready_last, readers, reads, schedule, slot, unique
-- requires: wake_one
-- requires: put_aside, transitions
-- gives: HOW, children_of, edge_ended, leave_parents, not_needed, notify, readers.meet_death
-- gives: readers.unlink, restore_in_steps, restoring_of, tell_children, tell_end, unblock, unlink_edge, unlink_page
-- fields: announced, lets_go, meet_death, told, told_most, unlink

local HOW = {completed = 'c', dead = 'd', cancelled = 'x', deleted = 'x', unknown = 'x', gone = 'x'}
local AT_ONCE = @CHILDREN_AT_ONCE@
local notify

-- An edge has ended. number: that of the message which registered it; what was told of another one does not count.
local function tell_end(P, child, handle, state, number)
  send(P, 'E', child .. ' ' .. handle .. ' ' .. state .. ' ' .. text(tonumber(number)))
end

-- The edges of a blocked child are made again by maintain.lua (lib/restore.lua). Returns the number of that.
local function restore_in_steps(P, id, now)
  local number = serial(P)
  call('RPUSH', P .. 'fanout', number .. ' restore ' .. id .. ' 0')
  call('HSET', P .. 'info:' .. id, 'restoring', number)
  announce_due(P, now)
  return number
end

-- Of a blocked child: `restoring`, or false. Another program may have written there, or into `pending`, what is no
-- number. Then the child's edges are made again, which counts anew how many of them have not ended.
local function restoring_of(P, id)
  local info = P .. 'info:' .. id
  local known = call('HMGET', info, 'restoring', 'pending')
  if (not known[1] or says_count(known[1])) and (not known[2] or says_count(known[2])) then return known[1] end
  call('HSET', info, 'pending', '1')
  return restore_in_steps(P, id, clock())
end

-- What this call has told children at once, in units of some 10 us of Redis: one an edge, and lets_go more where a
-- child waits no more. From told_most on it tells the children of further completions in steps.
readers.told, readers.told_most, readers.lets_go = 0, 256, 3

-- The child waits for nobody any more. by: the parent that was the last, if it was one.
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

-- A child leaves one parent.
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

-- Some of the edges in a hash that have not ended go; returns where to go on. anew: the child waits again by now, for
-- parents that may be among these. near: edges to other queues are passed over; then it returns whether there were any,
-- too.
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

-- Nor is the child registered any more with parents that have not ended; with more than 64 it leaves them in steps.
-- goes: what it knows of its parents goes, too.
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
    -- Such a hash may have several pages; they are small.
    local cursor = '0'
    repeat cursor = unlink_page(P, key, id, cursor, readers.at_once) until cursor == '0'
  end
  if call('EXISTS', P .. 'outbox', P .. 'fanout') > 0 then announce_due(P, clock()) end
end

-- The child has met a death for which it waited: it waits for nobody any more. by: as above.
function readers.meet_death(P, id, now, by)
  readers.unlink(P, id)
  unblock(P, id, now, by)
end

-- It waited for a death, and there was none.
local function not_needed(P, id)
  readers.told = readers.told + readers.lets_go
  local envelope = call('HGET', P .. 'tasks', id)
  leave_blocked(P, id)
  call('ZREM', P .. 'deadlines', id)
  local o = envelope and header(envelope) or {}
  unlock(P, id, o, true)
  if o.group or o.malformed then leave_slot(P, id) end
  readers.release(P, id)
  forget(P, {id})
  tell(P, 'deleted', id)
  notify(P, {id}, 'deleted')
end

-- A child hears how one of its parents ended; what it has heard before counts once. dies: what becomes of it if it dies
-- of that (lib/dependency_death.lua); not needed for "completed". number: of the edge, nil where it is not known.
-- Returns whether it may read the parent's record from now on.
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

-- All children in a set are to be told: later, in steps.
local function fan_out(P, set, id, state, count)
  if (count or call('EXISTS', set)) == 0 then return end
  local n = serial(P)
  call('RENAME', set, P .. 'fanout:' .. n)
  call('RPUSH', P .. 'fanout', n .. ' ' .. state .. ' ' .. id)
  if state == 'completed' then readers.add(P, id, {'0', '#' .. n}) end
  if readers.announced ~= P then announce_due(P, clock()) end
  readers.announced = P
end

-- A task with children has ended: completed, dead, cancelled, deleted; or "cascade": they are cancelled with it.
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

-- How many children wait for a task.
local function children_of(P, id)
  if call('SISMEMBER', P .. 'linked', id) == 0 then return 0 end
  return call('ZCARD', P .. 'children:' .. id) + call('ZCARD', P .. 'awaiting_retry:' .. id)
end

-- A child does not wait any more; goes: nor is it there any more, and what it knows of its parents goes with it.
local function leave_parents(P, id, goes)
  leave_blocked(P, id)
  call('HDEL', P .. 'info:' .. id, 'pending', 'due', 'death', 'restoring')
  readers.unlink(P, id, goes)
end

-- Tells who waits for tasks that they have ended: clients, and children. Costs nothing while settings has no "waiters".
function notify(P, ids, state)
  for i = 1, #ids do
    if call('ZREM', P .. 'waiters', ids[i]) == 1 then
      publish(P, P .. 'done:' .. ids[i], state)
    end
  end
  local linked = call('SMISMEMBER', P .. 'linked', unpack(ids))
  -- Ends themselves take Redis time: a call with more than 64 lets fewer children go at once.
  readers.lets_go = max(readers.lets_go, 3 + math.floor((#ids - 64) / 16))
  for i = 1, #ids do
    if linked[i] == 1 then tell_children(P, ids[i], state) end
  end
end
