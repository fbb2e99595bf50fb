-- Findings about limits (lib/limit_state.lua describes the keys). lib/check_states.lua says what a finding is.
--
-- requires: base, counts, group_place, slot, task_state
-- gives: find_group_count, find_group_stray, find_group_unwatched, find_in_force, find_limit_index, find_parked_alone
-- gives: find_running_count, find_slot_missing, find_slot_stale, group_counts

local COUNTED_MAX, SESSIONS_MAX, GROUPS_MAX = 4000, 2000, 500

-- group_unwatched: no call of maintain looks at a group with parked or unparked tasks.
local function find_group_unwatched(P, group)
  if call('EXISTS', P .. 'parked:' .. group, P .. 'unparked:' .. group) == 0 then return end
  if call('ZSCORE', P .. 'limit_due', group) or call('ZSCORE', P .. 'limit_dirty', group) then return end
  return ''
end

-- parked_alone: a parked task is not in parked:<group>. Where its envelope was overwritten, any group may have it.
local function find_parked_alone(P, id)
  local place, envelope = call('ZSCORE', P .. 'parked', id), call('HGET', P .. 'tasks', id)
  if not place or not envelope then return end
  local groups = groups_of(P, envelope)
  for _, group in ipairs(groups) do
    if call('ZSCORE', P .. 'parked:' .. group, id) == place then return end
  end
  -- Its type and its limit keys, also where in_force does not say that these have limits.
  local o = header(envelope)
  if o.type and call('ZSCORE', P .. 'parked:type:' .. o.type, id) == place then return end
  for _, key in ipairs(o.limit_keys or {}) do
    if call('ZSCORE', P .. 'parked:key:' .. key, id) == place then return end
  end
  if groups[1] then return groups[1] end
  for _, set in ipairs({'limit_due', 'limit_dirty'}) do
    for _, other in ipairs(call('ZRANGE', P .. set, '0', text(GROUPS_MAX))) do
      if call('ZSCORE', P .. 'parked:' .. other, id) then return end
    end
  end
  return ''
end

-- group_stray: "<id> parked:<group>" or "<id> unparked:<group>", and the task is not parked, or not ready.
local function find_group_stray(P, subject)
  local id, family, group = match(subject, '^(%S+) (u?n?parked):(.*)$')
  if not id or not call('ZSCORE', P .. family .. ':' .. group, id) then return end
  local set = family == 'parked' and 'parked' or 'ready'
  return not call('ZSCORE', P .. set, id) and group or nil
end

-- Whether all of these groups are strict.
local function are_strict(P, record)
  for group in groups_in(record) do
    local own = call('HGET', P .. 'limits', 's:' .. group)
    if is_virtual(group) or (own or call('HGET', P .. 'settings', 'group_strict')) ~= '1' then return false end
  end
  return true
end

local function is_counting(P)
  return call('HEXISTS', P .. 'limit_state', 'counting') == 1
end

-- slot_stale: a task counts for its group, and does not run; one of a strict group that waits counts, too.
local function find_slot_stale(P, id)
  local record = call('HGET', P .. 'running_group', id)
  if not record or is_counting(P) then return end
  local state = call('HEXISTS', P .. 'tasks', id) == 1 and task_state(P, id)
  if state == 'running' or is_waiting(state or '') and are_strict(P, record) then return end
  return (string.gsub(record, '%z', ', '))
end

-- slot_missing: "<key> <id>", a lease whose task does not count for its group.
local function find_slot_missing(P, subject)
  local key, id = match(subject, '^(%S+) (.*)$')
  if not id or not find(call('HGET', P .. 'settings', 'in_force') or '', 's', 1, true) or is_counting(P) then return end
  local envelope = call('HEXISTS', P .. key, id) == 1 and call('HGET', P .. 'tasks', id)
  local has = {}
  for group in groups_in(call('HGET', P .. 'running_group', id)) do has[group] = true end
  for _, group in ipairs(envelope and groups_of(P, envelope) or {}) do
    if not has[group] then return group end
  end
end

-- How many tasks of each group count, and what is recorded; nil where these are too many for one call.
local function group_counts(P)
  if call('HLEN', P .. 'running_group') + call('HLEN', P .. 'group_running') > COUNTED_MAX or is_counting(P) then return end
  local counts, known = {}, {}
  local list = call('HGETALL', P .. 'running_group')
  for i = 2, #list, 2 do
    for group in groups_in(list[i]) do counts[group] = (counts[group] or 0) + 1 end
  end
  list = call('HGETALL', P .. 'group_running')
  for i = 1, #list, 2 do
    known[list[i]] = list[i + 1]
    counts[list[i]] = counts[list[i]] or 0
  end
  return counts, known
end

-- group_count: `group_running` has another number than there are tasks in `running_group`.
local function find_group_count(P)
  local counts, known = group_counts(P)
  for group, count in pairs(counts or {}) do
    if known[group] ~= text(count) then return group .. ': ' .. (known[group] or 'none') .. ', not ' .. text(count) end
  end
end

-- running_count: the queue's concurrency counts another number of tasks than run.
local function find_running_count(P)
  if not find(call('HGET', P .. 'settings', 'in_force') or '', 'c', 1, true) then return end
  if call('ZCARD', P .. 'sessions') > SESSIONS_MAX then return end
  local counted, running = call('HGET', P .. 'limit_state', 'running') or '0', text(count_running(P))
  return counted ~= running and counted .. ', not ' .. running or nil
end

-- in_force: settings.in_force does not say which limits there are. `g`, `t` and `k` may stay until the last group was
-- looked at. While there is a breaker, it may have paused the queue, or ended that, without a change of `q`.
local function find_in_force(P)
  local s = call('HMGET', P .. 'settings', 'in_force', 'concurrency', 'rate', 'paused_until', 'group_concurrency', 'group_rate',
    'group_strict', 'events', 'events_until', 'breaker', 'group_breaker')
  local own = call('EXISTS', P .. 'limits') == 1
  local by_group = s[5] and number_of(s[5], 0) or s[7] or s[11] or own
  local flags = {c = s[2] and number_of(s[2], 0), q = s[3] or s[4], s = by_group, e = s[8] or s[9], b = s[10] or s[11],
    g = by_group or s[6] or call('EXISTS', P .. 'paused_groups', P .. 'limit_due', P .. 'limit_dirty') > 0,
    t = has_limited(P, 'type'), k = has_limited(P, 'key')}
  for _, letter in ipairs({'b', 'c', 'e', 'g', 'k', 'q', 's', 't'}) do
    local is_set, wanted = find(s[1] or '', letter, 1, true) ~= nil, flags[letter] and true or false
    local may_lag = letter == 'q' and s[10] or not wanted and find('gkt', letter, 1, true)
    if is_set ~= wanted and not may_lag then return letter end
  end
end

-- limit_index: `limited` has not the groups that have limits of their own.
local function find_limit_index(P, group)
  local own = call('HMGET', P .. 'limits', 'c:' .. group, 'r:' .. group, 's:' .. group)
  local has_own, is_listed = (own[1] or own[2] or own[3]) and true or false, call('ZSCORE', P .. 'limited', group) and true or false
  return has_own ~= is_listed and (has_own and 'is missing' or 'has none') or nil
end
