-- What concerns many children or many parents of a task is done in steps by fan.lua: the entries of the list `fanout`,
-- of which lib/dependency_edges.lua describes each kind.
--
-- While `outbox` holds many messages to other queues, as one of these may take none, a step sends no more of them: what
-- would send goes into `fanout_far`, and comes back entry by entry when there is room. Tasks of this queue are told all
-- the same.
--
-- requires: base, event, retention, dependency_edges, dependency_notice, messages, readers, reads
-- gives: fan_some

local CHILDREN_MAX = 40 -- a child takes Redis some 0.1 ms
local STATES = ' unlink restore unread cascade completed dead cancelled deleted '

-- The first entry as a table; nil: there is none that this version knows. An entry that a newer version wrote goes
-- behind the others, and the call ends there. The next call looks at what follows it: a worker's scheduler sends it
-- behind each call of maintain.lua, at the latest a session's life later.
local function first_entry(P)
  local line = call('LINDEX', P .. 'fanout', 0)
  if not line then return nil end
  local name, state, id, rest = string.match(line, '^(%S+) (%S+) (%S+) ?(%S*)$')
  if name and find(STATES, ' ' .. state .. ' ', 1, true) then return {name = name, state = state, id = id, rest = rest} end
  call('LPOP', P .. 'fanout')
  call('RPUSH', P .. 'fanout', line)
  return nil
end

local function entry_line(entry, rest, name)
  return (name or entry.name) .. ' ' .. entry.state .. ' ' .. entry.id .. (rest and ' ' .. rest or '')
end

-- Where a walk through a hash of edges begins, and whether an earlier step of it passed over edges to other queues: "~"
-- behind the cursor.
local function walk_of(entry)
  return string.match(entry.rest, '^%d+') or '0', sub(entry.rest, -1) == '~'
end

-- Notes where the next step goes on; cursor: nil at the end. Where edges to other queues were passed over, another walk
-- follows. Returns whether all edges are done.
local function end_walk_step(P, entry, cursor, passed)
  if cursor then
    call('LSET', P .. 'fanout', 0, entry_line(entry, cursor .. (passed and '~' or '')))
    return false
  end
  call('LPOP', P .. 'fanout')
  if passed then call('RPUSH', P .. 'fanout_far', entry_line(entry, '0')) end
  return not passed
end

-- "unlink": a child leaves some of its parents.
local function unlink_some(P, entry, max, is_full)
  local cursor, passed_before = walk_of(entry)
  local blocked = call('ZSCORE', P .. 'blocked', entry.id)
  local next_cursor, passed = unlink_page(P, P .. entry.name, entry.id, cursor, max, blocked, is_full)
  local done = end_walk_step(P, entry, next_cursor ~= '0' and next_cursor, passed or passed_before)
  if done and sub(entry.name, 1, 7) == 'fanout:' then call('UNLINK', P .. entry.name) end
end

-- "restore": a retried child waits for some of its parents again.
local function restore_some(P, entry, max, is_full, now)
-- require: dependency_register, restore
  local cursor, passed_before = walk_of(entry)
  local near = is_full and own_queue(P)
  local next_cursor, passed = restore_page(P, entry.id, entry.name, cursor, max, now, near, passed_before)
  end_walk_step(P, entry, next_cursor, passed or passed_before)
end

-- Takes some handles out of the entry's set, with their numbers. While is_full, those of other queues go into another
-- set, for which an entry of `fanout_far` stands. Returns the others, and how many were taken in all.
local function take_handles(P, entry, max, is_full, is_read)
  local queue, near, far = own_queue(P), {}, {}
  local found = call('ZPOPMIN', P .. 'fanout:' .. entry.name, max)
  for i = 1, #found, 2 do
    if is_full and parts(found[i]) ~= queue then
      far[#far + 1], far[#far + 2] = found[i + 1], found[i]
    else
      near[#near + 1], near[#near + 2] = found[i], found[i + 1]
    end
  end
  if #far > 0 then
    local set = entry.rest
    if set == '' then
      set = serial(P)
      call('LSET', P .. 'fanout', 0, entry_line(entry, set))
      call('RPUSH', P .. 'fanout_far', entry_line(entry, nil, set))
      if is_read then readers.add(P, entry.id, {'0', '#' .. set}) end
    end
    call('ZADD', P .. 'fanout:' .. set, unpack(far))
  end
  return near, #found / 2
end

-- Removes the entry when its set is empty. Returns whether it was.
local function end_set_step(P, entry)
  if call('EXISTS', P .. 'fanout:' .. entry.name) == 1 then return false end
  call('LPOP', P .. 'fanout')
  return true
end

-- "unread": the task does not read these records any more. A task of that id may have come since and read some of them:
-- it keeps its claim. Claims on tasks of other queues have numbers, which tell the earlier one apart.
local function unread_some(P, entry, max, is_full)
  local queue, left = own_queue(P), {}
  local handles = take_handles(P, entry, max, is_full, false)
  for i = 1, #handles, 2 do
    if parts(handles[i]) ~= queue or not call('ZSCORE', P .. 'reads:' .. entry.id, handles[i]) then
      left[#left + 1], left[#left + 2] = handles[i], handles[i + 1]
    end
  end
  readers.leave(P, entry.id, left)
  end_set_step(P, entry)
end

-- Tells some children how the task ended, or cancels them ("cascade"). Returns how many.
local function tell_some(P, entry, max, is_full, now)
  local queue, reading = own_queue(P), {}
  -- A record that was deleted meanwhile has no such reader.
  local is_read = entry.state == 'completed' and call('ZSCORE', P .. 'readers:' .. entry.id, '#' .. entry.name)
  local handles, count = take_handles(P, entry, max, is_full, is_read)
  local parent = queue .. '/' .. entry.id
  for i = 1, #handles, 2 do
    local child, number = handles[i], handles[i + 1]
    local theirs, child_id = parts(child)
    if theirs ~= queue then
      tell_end(P, child, parent, entry.state, number)
      reading[#reading + 1], reading[#reading + 2] = number, child
    elseif deliver(P, child_id, parent, entry.state, now, number) then
      reading[#reading + 1], reading[#reading + 2] = '0', child
    end
  end
  if is_read then readers.add(P, entry.id, reading) end
  if end_set_step(P, entry) and is_read then
    call('ZREM', P .. 'readers:' .. entry.id, '#' .. entry.name)
    readers.let_go(P, entry.id)
  end
  return count
end

-- Does a step of the first entry: at most `max` edges, or `children_max` children. Returns whether there is more, and
-- how many children were told; nil: the entry was of another kind.
local function fan_one(P, now, max, children_max)
  act_as(false)
  local is_full = call('LLEN', P .. 'outbox') > @OUTBOX_MAX@
  local back = not is_full and call('LPOP', P .. 'fanout_far')
  if back then call('RPUSH', P .. 'fanout', back) end
  local entry, told = first_entry(P), nil
  if not entry then return false end
  local handles_max = math.min(max, children_max, CHILDREN_MAX)
  if entry.state == 'unlink' then
    unlink_some(P, entry, max, is_full)
  elseif entry.state == 'restore' then
    restore_some(P, entry, max, is_full, now)
  elseif entry.state == 'unread' then
    unread_some(P, entry, handles_max, is_full)
  else
    told = tell_some(P, entry, handles_max, is_full, now)
  end
  return call('EXISTS', P .. 'fanout', is_full and P .. 'fanout' or P .. 'fanout_far') > 0, told
end

-- Does some steps; returns whether there is more. Behind the first entry come others, whole ones, as long as TOGETHER
-- children are told in all: many tasks with few children each may have ended in one call.
local function fan_some(P, now, max, children_max)
  local TOGETHER = math.min(@CHILDREN_AT_ONCE@, max, children_max)
  local more, told = fan_one(P, now, max, children_max)
  while more and told and told < TOGETHER do
    local next_name = string.match(call('LINDEX', P .. 'fanout', 0) or '', '^%d+')
    if not next_name or told + call('ZCARD', P .. 'fanout:' .. next_name) > TOGETHER then break end
    local count
    more, count = fan_one(P, now, max, children_max)
    told = count and told + count
  end
  return more
end
