-- The place of a waiting task in its group, where the group has a limit. lib/limit_state.lua describes the keys.
--
-- requires: base, event, transitions
-- gives: expect, forget_group, groups_of, has_limited_type, leave_groups

-- Returns the groups that limits count a task for, in order: its group and, while a type has a limit, `type:<type>`;
-- and an error text if the envelope is malformed.
local function groups_of(P, envelope)
  local by_type, at = find(in_force_of(P), 't', 1, true), find(envelope, '"group":', 1, true)
  if not by_type and (not at or at > (find(envelope, '\n', 1, true) or 0)) then return {} end
  local o = header(envelope)
  local groups = {o.group}
  local type_group = by_type and o.type and 'type:' .. o.type
  if type_group and type_group ~= o.group then groups[#groups + 1] = type_group end
  return groups, o.malformed
end

-- Whether a type has limits. Their names are in `limited`, where all scores are 0, between these two.
local function has_limited_type(P)
  return #call('ZRANGE', P .. 'limited', '[type:', '(type;', 'BYLEX', 'LIMIT', 0, 1) > 0
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

-- Removes a waiting task from the keys of its groups, whether it is parked or unparked. If it was unparked, the group
-- may unpark another task, so it is handled again.
local function leave_groups(P, id, envelope)
  for _, group in ipairs(groups_of(P, envelope)) do
    local parked, unparked = P .. 'parked:' .. group, P .. 'unparked:' .. group
    local was_unparked = call('ZREM', unparked, id) == 1
    if was_unparked or call('ZREM', parked, id) == 1 then
      leave_parked(P, {id})
      call('ZREM', P .. 'parked_first:' .. group, id)
      if call('EXISTS', parked, unparked) == 0 then
        forget_group(P, group)
      elseif was_unparked then
        expect(P, group, clock())
      end
    end
  end
end
