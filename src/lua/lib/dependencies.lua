-- What becomes of children when their parents do not end well, and of those that are to be told in steps.
--
-- requires: base, cancelled, death, event, retention, dependency_edges, messages, readers, reads
-- gives: deliver, dies_of, fan_some

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

-- A child hears of a parent. number: of the edge, nil where it is not known. Returns whether it may read the parent's record
-- from now on.
local function deliver(P, id, parent, state, now, number)
  if state ~= 'cascade' then return edge_ended(P, id, parent, state, now, dies_of, number) end
  local edge = call('HGET', P .. 'parents:' .. id, parent)
  if edge and sub(edge, 2, 2) == '-' and is_meant(edge, number) then
    call('HSET', P .. 'parents:' .. id, parent, sub(edge, 1, 1) .. 'x' .. sub(edge, 3))
    cascades(P, id, now)
  end
end

-- Works off the first entry of `fanout`, or a part of it: so many edges at most, or children that are told. Returns true when
-- there is more, and how many children it told if it told any.
--
-- While there are many messages to other queues, as one of these may not take any, what would send more is put off: it
-- goes into `fanout_far`, and comes back one by one when there is room. The own queue's tasks are told all the same.
function readers.fan_one(P, now, most, children_most)
  local OUTBOX_MOST, CHILDREN_MOST = @OUTBOX_MAX@, 40 -- (a child takes Redis some 0.1 ms)
  act_as(false)
  local full = call('LLEN', P .. 'outbox') > OUTBOX_MOST
  local back = not full and call('LPOP', P .. 'fanout_far')
  if back then call('RPUSH', P .. 'fanout', back) end
  local entry = call('LINDEX', P .. 'fanout', 0)
  if not entry then return false end
  local name, state, id, rest = string.match(entry, '^(%S+) (%S+) (%S+) ?(%S*)$')
  -- Of another version, which will understand it: it stands behind the others, and what follows is for the next call.
  local STATES = ' unlink restore unread cascade completed dead cancelled deleted '
  if not name or not find(STATES, ' ' .. state .. ' ', 1, true) then
    call('LPOP', P .. 'fanout')
    call('RPUSH', P .. 'fanout', entry)
    return false
  end
  local queue = own_queue(P)

  local function is_left()
    return call('EXISTS', P .. 'fanout', full and P .. 'fanout' or P .. 'fanout_far') > 0
  end

  -- Of a walk through a hash: cursor: where to go on, nil at the end; passed: edges to other queues were passed over,
  -- which "~" behind the cursor notes, so that another walk does them.
  local function walk(cursor, passed, at_end)
    passed = passed or sub(rest, -1) == '~'
    if cursor then
      call('LSET', P .. 'fanout', 0, name .. ' ' .. state .. ' ' .. id .. ' ' .. cursor .. (passed and '~' or ''))
    else
      call('LPOP', P .. 'fanout')
      if passed then call('RPUSH', P .. 'fanout_far', name .. ' ' .. state .. ' ' .. id .. ' 0') else at_end() end
    end
  end
  local cursor = string.match(rest, '^%d+') or '0'
  if state == 'unlink' then
    local to, passed = unlink_page(P, P .. name, id, cursor, most, call('ZSCORE', P .. 'blocked', id), full)
    walk(to ~= '0' and to, passed, function()
      if sub(name, 1, 7) == 'fanout:' then call('UNLINK', P .. name) end
    end)
    return is_left()
  end
  if state == 'restore' then
-- (Here, as a script has room for 200 locals.)
-- require: dependency_register, restore
    local to, passed = restore_page(P, id, name, cursor, most, now, full and queue, sub(rest, -1) == '~')
    walk(to, passed, function() end)
    return is_left()
  end

  -- A set of handles: near ones are dealt with; far ones are put off while there are many messages, into fanout:<rest>.
  local found = call('ZPOPMIN', P .. 'fanout:' .. name, math.min(most, children_most, CHILDREN_MOST))
  local is_read = state == 'completed' and call('ZSCORE', P .. 'readers:' .. id, '#' .. name)
  local some, far = {}, {}
  for i = 1, #found, 2 do
    local list = full and parts(found[i]) ~= queue and far or some
    local first = list == far and 1 or 0
    list[#list + 1], list[#list + 2] = found[i + first], found[i + 1 - first]
  end
  if #far > 0 then
    if rest == '' then
      rest = serial(P)
      call('LSET', P .. 'fanout', 0, name .. ' ' .. state .. ' ' .. id .. ' ' .. rest)
      call('RPUSH', P .. 'fanout_far', rest .. ' ' .. state .. ' ' .. id)
      if is_read then readers.add(P, id, {'0', '#' .. rest}) end
    end
    call('ZADD', P .. 'fanout:' .. rest, unpack(far))
  end
  if state == 'unread' then
    -- A task of that id may have come since and read some of these: it keeps its claim on them. Claims on tasks of other
    -- queues have numbers, by which the earlier one is told apart.
    local left = {}
    for i = 1, #some, 2 do
      if parts(some[i]) ~= queue or not call('ZSCORE', P .. 'reads:' .. id, some[i]) then
        left[#left + 1], left[#left + 2] = some[i], some[i + 1]
      end
    end
    readers.leave(P, id, left)
    if call('EXISTS', P .. 'fanout:' .. name) == 0 then call('LPOP', P .. 'fanout') end
    return is_left()
  end
  local handle = queue .. '/' .. id
  -- Whoever deleted the record meanwhile took that away.
  local reading = {}
  for i = 1, #some, 2 do
    local theirs, child_id = parts(some[i])
    if theirs == queue then
      local reads = deliver(P, child_id, handle, state, now, some[i + 1])
      if reads then reading[#reading + 1], reading[#reading + 2] = '0', some[i] end
    else
      tell_end(P, some[i], handle, state, some[i + 1])
      reading[#reading + 1], reading[#reading + 2] = some[i + 1], some[i]
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
  return is_left(), #found / 2
end

-- Works off some of `fanout`; returns true when there is more. Behind the first entry come others, whole ones, as long as
-- TOGETHER children are told in all: many tasks with few children each may have ended in one call.
local function fan_some(P, now, most, children_most)
  local TOGETHER = math.min(@CHILDREN_AT_ONCE@, most, children_most)
  local more, told = readers.fan_one(P, now, most, children_most)
  while more and told and told < TOGETHER do
    local next_name = string.match(call('LINDEX', P .. 'fanout', 0) or '', '^%d+')
    if not next_name or told + call('ZCARD', P .. 'fanout:' .. next_name) > TOGETHER then break end
    local count
    more, count = readers.fan_one(P, now, most, children_most)
    told = count and told + count
  end
  return more
end
