-- What becomes of children when their parents do not end well, and of those that are to be told in steps. Needs base,
-- order, schedule, keep, notify, unique, put, death.

-- A child dies of its parent; its own children hear of it in turn.
local function dies_of(P, id, parent, state, now)
  local unknown = state == 'unknown'
  local kind, message = unknown and 'unknown_parent' or 'parent', 'the task it waited for, ' .. parent .. ', is ' ..
    (unknown and 'not known: it was never enqueued, or its record is gone' or state)
  leave_parents(P, id)
  dies(P, id, now, kind, message)
end

-- A child is cancelled with its parent, and its own children with it.
local function cascades(P, id, now)
  if not call('ZSCORE', P .. 'blocked', id) then return end
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope then return end
  leave_parents(P, id)
  tell_children(P, id, 'cascade')
  end_cancelled(P, id, envelope, now)
  notify(P, {id}, 'cancelled')
end

-- A child hears of a parent. number: of the message that registered the edge, where that was one. Returns whether it may
-- read the parent's record from now on.
local function deliver(P, id, parent, state, now, number)
  if state ~= 'cascade' then return edge_ended(P, id, parent, state, now, dies_of, number) end
  local edge = call('HGET', P .. 'parents:' .. id, parent)
  if edge and sub(edge, 2, 2) == '-' and is_meant(edge, number) then
    call('HSET', P .. 'parents:' .. id, parent, sub(edge, 1, 1) .. 'x' .. sub(edge, 3))
    cascades(P, id, now)
  end
end

-- Works off some of `fanout`: so many edges at most, or children that are told; returns true when there is more.
local function fan_some(P, now, most, children_most)
  local OUTBOX_MOST, CHILDREN_MOST = 1000, 40 -- (a child takes Redis some 0.1 ms)
  act_as(false)
  local entry = call('LINDEX', P .. 'fanout', 0)
  if not entry then return false end
  if call('LLEN', P .. 'outbox') > OUTBOX_MOST then return false end
  local name, state, id, cursor = string.match(entry, '^(%S+) (%S+) (%S+) ?(%S*)$')
  if state == 'unlink' then
    cursor = unlink_page(P, P .. name, id, cursor, most, call('ZSCORE', P .. 'blocked', id))
    if cursor == '0' then
      call('LPOP', P .. 'fanout')
      if sub(name, 1, 7) == 'fanout:' then call('UNLINK', P .. name) end
    else
      call('LSET', P .. 'fanout', 0, name .. ' unlink ' .. id .. ' ' .. cursor)
    end
    return call('EXISTS', P .. 'fanout') == 1
  end
  if state == 'restore' then
-- (Here, as a script has room for 200 locals.)
-- include: lib/register.lua
-- include: lib/restore.lua
    cursor = restore_page(P, id, name, cursor, most, now)
    if cursor then
      call('LSET', P .. 'fanout', 0, name .. ' restore ' .. id .. ' ' .. cursor)
    else
      call('LPOP', P .. 'fanout')
    end
    return call('EXISTS', P .. 'fanout') == 1
  end
  if state == 'unread' then
    readers.leave(P, id, call('ZPOPMIN', P .. 'fanout:' .. name, math.min(most, CHILDREN_MOST)))
    if call('EXISTS', P .. 'fanout:' .. name) == 0 then call('LPOP', P .. 'fanout') end
    return call('EXISTS', P .. 'fanout') == 1
  end
  local queue = own_queue(P)
  local handle = queue .. '/' .. id
  -- (Whoever deleted the record meanwhile took that away.)
  local reading, is_read = {}, state == 'completed' and call('ZSCORE', P .. 'readers:' .. id, '#' .. name)
  local children = call('ZPOPMIN', P .. 'fanout:' .. name, math.min(most, children_most, CHILDREN_MOST))
  for i = 1, #children, 2 do
    local theirs, child_id = parts(children[i])
    if theirs == queue then
      local reads = deliver(P, child_id, handle, state, now)
      if reads then reading[#reading + 1], reading[#reading + 2] = '0', children[i] end
    else
      tell_end(P, children[i], handle, state, children[i + 1])
      reading[#reading + 1], reading[#reading + 2] = children[i + 1], children[i]
    end
  end
  if is_read then readers.add(P, id, reading) end
  if call('EXISTS', P .. 'fanout:' .. name) == 0 then
    call('LPOP', P .. 'fanout')
    if is_read then
      call('ZREM', P .. 'readers:' .. id, '#' .. name)
      readers.let_go(P, id)
    end
  end
  return call('EXISTS', P .. 'fanout') == 1
end
