-- The place of a waiting task in its group, where the group has a limit. lib/limit_state.lua describes the keys.
--
-- requires: base, transitions
-- gives: expect, forget_group, group_of, leave_group

-- Returns the group of an envelope, or nil; and an error text if the envelope is malformed.
local function group_of(envelope)
  local at = find(envelope, '"group":', 1, true)
  if not at or at > (find(envelope, '\n', 1, true) or 0) then return end
  local o = header(envelope)
  return o.group, o.malformed
end

-- Lets maintain.lua handle the group again at the time `at`, in ms; LATEST: when one of its tasks ends.
local function expect(P, group, at)
  at = min(at, LATEST)
  local head = at < LATEST and call('ZRANGE', P .. 'limit_due', 0, 0, 'WITHSCORES')
  call('ZADD', P .. 'limit_due', text(at), group)
  if head and (not head[2] or at < tonumber(head[2])) then announce_due(P, at) end
end

-- Removes the keys of a group that has no parked and no unparked task any more.
local function forget_group(P, group)
  call('ZREM', P .. 'limit_due', group)
  call('ZREM', P .. 'limit_dirty', group)
  call('UNLINK', P .. 'parked_first:' .. group)
end

-- Removes a waiting task from the keys of its group, whether it is parked or unparked. If it was unparked, the group
-- may unpark another task, so it is handled again.
local function leave_group(P, id, group)
  local parked, unparked = P .. 'parked:' .. group, P .. 'unparked:' .. group
  local was_unparked = call('ZREM', unparked, id) == 1
  if not was_unparked and call('ZREM', parked, id) == 0 then return end
  leave_parked(P, {id})
  call('ZREM', P .. 'parked_first:' .. group, id)
  if call('EXISTS', parked, unparked) == 0 then
    forget_group(P, group)
  elseif was_unparked then
    expect(P, group, clock())
  end
end
