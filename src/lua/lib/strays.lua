-- A part of a step of maintain.lua (lib/unpark_groups.lua): repairs groups that would wait for ever. It checks some
-- groups, chosen at random, for two faults:
--   - Another program overwrote the envelope of a parked or unparked task. Only the envelope names the group, so a
--     script that moves the task leaves its id in parked:<group> or unparked:<group>. Such ids are removed.
--   - A call that failed halfway ended a task of the group, and unparked none. A group that waits for the end of a
--     task, although it may start one, is handled at once.
--
-- requires: base, budget, group_place, limit_state
-- gives: tidy_groups

local SOME_GROUPS, SOME_MEMBERS = 8, 16

local function drop_unparked(P, group, most)
  local ids = call('ZRANDMEMBER', P .. 'unparked:' .. group, most)
  if #ids == 0 then return 0 end
  local known, dropped = drop_strays(P, 'ready', 'unparked:' .. group, ids)
  local envelopes = call('HMGET', P .. 'tasks', unpack(ids))
  for i = 1, #ids do
    local is_here = not known[i] or not envelopes[i]
    for _, one in ipairs(is_here and {} or groups_of(P, envelopes[i])) do is_here = is_here or one == group end
    if not is_here then dropped = dropped + call('ZREM', P .. 'unparked:' .. group, ids[i]) end
  end
  return dropped
end

local function drop_parked(P, group, most)
  local ids = call('ZRANDMEMBER', P .. 'parked:' .. group, most)
  if #ids == 0 then return 0 end
  local _, dropped = drop_strays(P, 'parked', 'parked:' .. group, ids)
  return dropped
end

-- Whether the parked tasks of the group wait for the end of a task, although one of them may start now. A strict group
-- may start the task that has its slot.
local function is_forgotten(g, group)
  if tonumber(call('ZSCORE', g.P .. 'limit_due', group)) ~= LATEST then return false end
  local room = group_room(g, group)
  if room.waiting == 0 then return false end
  return room.free - room.unparked >= 1 or
    room.strict and room.rest >= 1 and call('EXISTS', g.P .. 'parked_first:' .. group) == 1
end

-- g: the limits as this call knows them (lib/limit_state.lua). Returns whether a group was added to `limit_dirty`.
local function tidy_groups(g, most)
  local P, found = g.P, false
  most = math.min(most, SOME_MEMBERS)
  for _, group in ipairs(call('ZRANDMEMBER', P .. 'limit_due', budget.room(14, 1, SOME_GROUPS))) do
    if drop_unparked(P, group, most) + drop_parked(P, group, most) > 0 or is_forgotten(g, group) then
      call('ZADD', P .. 'limit_dirty', '0', group)
      found = true
    end
  end
  return found
end
