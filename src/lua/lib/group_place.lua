-- The place of a waiting task in its group, where the group has a limit. lib/limit_state.lua describes the keys.
--
-- requires: base, transitions
-- gives: expect, forget_group, group_of, leave_group

-- The group of an envelope, or nil; and of one that is not understood, why.
local function group_of(envelope)
  local at = find(envelope, '"group":', 1, true)
  if not at or at > (find(envelope, '\n', 1, true) or 0) then return end
  local o = header(envelope)
  return o.group, o.malformed
end

-- The group is examined again at a time.
local function expect(P, group, at)
  at = min(at, LATEST)
  local head = at < LATEST and call('ZRANGE', P .. 'opening', 0, 0, 'WITHSCORES')
  call('ZADD', P .. 'opening', text(at), group)
  if head and (not head[2] or at < tonumber(head[2])) then announce_due(P, at) end
end

-- The group has no parked and no called task any more.
local function forget_group(P, group)
  call('ZREM', P .. 'opening', group)
  call('ZREM', P .. 'reopening', group)
  call('UNLINK', P .. 'holders:' .. group)
end

-- A task that waits leaves its place for good, or for another: parked, or called. Others may have been behind it.
local function leave_group(P, id, group)
  local parked, called = P .. 'parked:' .. group, P .. 'called:' .. group
  local was_called = call('ZREM', called, id) == 1
  if not was_called and call('ZREM', parked, id) == 0 then return end
  leave_parked(P, {id})
  call('ZREM', P .. 'holders:' .. group, id)
  if call('EXISTS', parked, called) == 0 then
    forget_group(P, group)
  elseif was_called then
    expect(P, group, clock())
  end
end
