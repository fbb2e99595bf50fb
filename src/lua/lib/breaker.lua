-- Circuit breakers: if too many attempts fail, no task of a queue, or of a group, starts for a time. Then one task
-- starts as a trial, and its outcome decides. No script reads any of this while settings.in_force has no "b".
--
--   settings  breaker: the percentage of failures that opens the breaker of the queue, among at least breaker_attempts
--             attempts within breaker_window ms; it is open for breaker_pause ms. group_breaker,
--             group_breaker_attempts, group_breaker_window, group_breaker_pause: the same for each group
--   breakers  hash: the scope, "q" for the queue or "g:<group>" -> the state of its breaker; absent: closed, and no
--             attempt has failed lately
--             "c <since> <attempts> <failures>"  closed; counted since the first failure of a window
--             "o <ends>"       open: no task starts before this time, then one may
--             "t <ends> <id>"  half-open: this task is the trial. If it has no outcome by then, another task may start
--
-- While a breaker is open or half-open, the queue or group is paused until `ends` (paused_until, paused_groups). A
-- breaker that closes ends its own pause, but not a later pause that somebody else made. Outcomes of tasks that started
-- before the breaker opened are not counted.
--
-- requires: base, event, group_place, slot, wake_one
-- gives: breaker, breaker.count, breaker.groups, breaker.try
-- fields: attempts, count, groups, pause, percent, try, window

local breaker = {}
do
  local function settings_of(P, scope)
    local name = scope == 'q' and 'breaker' or 'group_breaker'
    local s = call('HMGET', P .. 'settings', name, name .. '_attempts', name .. '_window', name .. '_pause')
    local percent = number_of(s[1], 1)
    if not percent then return end
    return {percent = percent, attempts = number_of(s[2], 1) or @BREAKER_ATTEMPTS@, window = number_of(s[3], 1) or @BREAKER_WINDOW_MS@,
      pause = number_of(s[4], 1) or @BREAKER_PAUSE_MS@}
  end

  -- No task starts before the time `ends`, or a later one if there is a later pause.
  local function pause(P, scope, ends)
    ends = min(ends, LATEST)
    if scope == 'q' then
      local known = number_of(call('HGET', P .. 'settings', 'paused_until'), 0)
      if not known or known < ends then call('HSET', P .. 'settings', 'paused_until', text(ends)) end
      call('HDEL', P .. 'limit_state', 'opens')
    else
      local group = sub(scope, 3)
      call('ZADD', P .. 'paused_groups', 'GT', text(ends), group)
      if call('EXISTS', P .. 'parked:' .. group) == 1 then call('ZADD', P .. 'limit_due', text(ends), group) end
    end
    announce_due(P, ends)
    return ends
  end

  local function unpause(P, scope, ends, now)
    if scope == 'q' then
      if call('HGET', P .. 'settings', 'paused_until') ~= ends then return end
      call('HDEL', P .. 'settings', 'paused_until')
      if call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
      return announce_due(P, now)
    end
    local group = sub(scope, 3)
    if tonumber(call('ZSCORE', P .. 'paused_groups', group)) ~= tonumber(ends) then return end
    call('ZREM', P .. 'paused_groups', group)
    call_group(P, group)
  end

  local function group_name(scope)
    return scope ~= 'q' and sub(scope, 3) or ''
  end

  local function open(P, scope, id, now, s)
    local ends, group = text(pause(P, scope, now + s.pause)), group_name(scope)
    call('HSET', P .. 'breakers', scope, 'o ' .. ends)
    tell(P, 'breaker_opened', id, 'message', group, 'due', ends)
    publish_control(P, 'breaker_opened', ends .. ' ' .. group)
  end

  local function close(P, scope, id, now, ends)
    local group = group_name(scope)
    call('HDEL', P .. 'breakers', scope)
    unpause(P, scope, ends, now)
    tell(P, 'breaker_closed', id, 'message', group)
    publish_control(P, 'breaker_closed', text(now) .. ' ' .. group)
  end

  local function count_closed(P, scope, ids, now, has_failed, s, state)
    local since, attempts, failures = match(state, '^c (%d+) (%d+) (%d+)$')
    since, attempts, failures = tonumber(since) or now, tonumber(attempts) or 0, tonumber(failures) or 0
    if now - since > s.window or since > now then since, attempts, failures = now, 0, 0 end
    attempts, failures = attempts + #ids, failures + (has_failed and #ids or 0)
    if failures == 0 then return call('HDEL', P .. 'breakers', scope) end
    if has_failed and attempts >= s.attempts and failures * 100 >= s.percent * attempts then return open(P, scope, ids[#ids], now, s) end
    call('HSET', P .. 'breakers', scope, 'c ' .. text(since) .. ' ' .. text(attempts) .. ' ' .. text(failures))
  end

  local function count(P, scope, ids, now, has_failed)
    local state = call('HGET', P .. 'breakers', scope)
    if not state and not has_failed then return end
    local s = settings_of(P, scope)
    if not s then return end
    if match(state or '', '^o %d+$') then return end
    local ends, id = match(state or '', '^t (%d+) (.+)$')
    if not ends then return count_closed(P, scope, ids, now, has_failed, s, state or '') end
    for i = 1, #ids do
      if ids[i] == id then return has_failed and open(P, scope, id, now, s) or not has_failed and close(P, scope, id, now, ends) end
    end
  end

  -- Returns the groups of running tasks, by place; nil if no breaker is on. Called before the tasks leave their slots.
  function breaker.groups(P, ids, flags)
    if not flags or not find(flags, 'b', 1, true) then return end
    return call('HMGET', P .. 'running_group', unpack(ids))
  end

  -- Attempts of these tasks have ended: all of them failed, or none. groups: from breaker.groups.
  function breaker.count(P, ids, groups, now, has_failed)
    count(P, 'q', ids, now, has_failed)
    local lists = {}
    for i = 1, #ids do
      for group in groups_in(groups[i]) do
        lists[group] = lists[group] or {}
        lists[group][#lists[group] + 1] = ids[i]
      end
    end
    for group, list in pairs(lists) do
      if not is_virtual(group) then count(P, 'g:' .. group, list, now, has_failed) end
    end
  end

  -- This task is the first that starts since the breaker opened: it becomes the trial.
  function breaker.try(P, scope, id, now)
    local s = settings_of(P, scope)
    if not s then return end
    local ends = pause(P, scope, now + s.pause)
    call('HSET', P .. 'breakers', scope, 't ' .. text(ends) .. ' ' .. id)
  end
end
