-- Another program may overwrite the envelope of a task that is parked or unparked. Only the envelope names the group: a script that
-- moves such a task leaves its id in `called:<group>` or `parked:<group>`, and the group would wait for the task for ever. Each call
-- of maintain removes such members of some groups, chosen at random.
--
-- requires: base, budget, group_place, limit_state
-- gives: tidy_groups

local SOME_GROUPS, SOME_MEMBERS = 8, 16

local function drop_unparked(P, group, most)
  local ids = call('ZRANDMEMBER', P .. 'called:' .. group, most)
  if #ids == 0 then return 0 end
  local known, dropped = drop_strays(P, 'ready', 'called:' .. group, ids)
  local envelopes = call('HMGET', P .. 'tasks', unpack(ids))
  for i = 1, #ids do
    if known[i] and envelopes[i] and group_of(envelopes[i]) ~= group then
      dropped = dropped + call('ZREM', P .. 'called:' .. group, ids[i])
    end
  end
  return dropped
end

local function drop_parked(P, group, most)
  local ids = call('ZRANDMEMBER', P .. 'parked:' .. group, most)
  if #ids == 0 then return 0 end
  local _, dropped = drop_strays(P, 'parked', 'parked:' .. group, ids)
  return dropped
end

-- Returns whether a group is to be looked at again.
local function tidy_groups(P, most)
  local found = false
  most = math.min(most, SOME_MEMBERS)
  for _, group in ipairs(call('ZRANDMEMBER', P .. 'opening', budget.room(6, 1, SOME_GROUPS))) do
    if drop_unparked(P, group, most) + drop_parked(P, group, most) > 0 then
      call('ZADD', P .. 'reopening', '0', group)
      found = true
    end
  end
  return found
end
