-- Repairs of findings about limits (lib/check_limits.lua).
--
-- requires: add_to, base, check_limits, counts, group_place, limit_state, put_aside, slot, transitions, wake_one
-- gives: repair_group_count, repair_group_stray, repair_group_unwatched, repair_in_force, repair_limit_index
-- gives: repair_parked_alone
-- gives: repair_running_count, repair_slot_missing, repair_slot_stale

-- The next call of maintain looks at the group.
local function watch(P, group)
  call('ZADD', P .. 'limit_dirty', '0', group)
  if not find(call('HGET', P .. 'settings', 'in_force') or '', 'g', 1, true) then change_in_force(P) end
  announce_due(P, 0)
end

local function repair_group_unwatched(P, group)
  watch(P, group)
end

local function repair_parked_alone(P, id, group)
  if group == '' then
    leave_parked(P, {id})
    return put_aside(P, id)
  end
  call('ZADD', P .. 'parked:' .. group, call('ZSCORE', P .. 'parked', id), id)
  watch(P, group)
end

local function repair_group_stray(P, subject, group)
  local id, family = match(subject, '^(%S+) (u?n?parked):')
  local members = P .. family .. ':' .. group
  call('ZREM', members, id)
  watch(P, group)
end

local function repair_slot_stale(P, id)
  leave_slot(P, id)
end

local function repair_slot_missing(P, subject)
  local id = match(subject, '^%S+ (.*)$')
  local groups = groups_of(P, call('HGET', P .. 'tasks', id))
  leave_slot(P, id)
  call('HSET', P .. 'running_group', id, table.concat(groups, '\0'))
  for _, group in ipairs(groups) do add_to(P .. 'group_running', group, 1) end
end

local function repair_group_count(P)
  local counts, known = group_counts(P)
  for group, count in pairs(counts) do
    if count == 0 then call('HDEL', P .. 'group_running', group) else call('HSET', P .. 'group_running', group, text(count)) end
    if known[group] ~= text(count) and call('EXISTS', P .. 'parked:' .. group) == 1 then watch(P, group) end
  end
end

local function repair_running_count(P)
  call('HSET', P .. 'limit_state', 'running', text(count_running(P)))
  if call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
end

local function repair_in_force(P)
  for _, kind in ipairs({'type', 'key'}) do
    if has_limited(P, kind) then call('HSET', P .. 'settings', kind .. 's', '1') end
  end
  change_in_force(P)
end

local function repair_limit_index(P, group, found)
  if found == 'is missing' then call('ZADD', P .. 'limited', '0', group) else call('ZREM', P .. 'limited', group) end
end
