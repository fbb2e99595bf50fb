-- Most calls of maintain.lua find that nothing is due. This module checks that with few commands, and without the
-- functions of the other modules. So such a call takes a fifth of the instructions.
--
-- requires: upkeep
-- gives: quiet

-- Reads the earliest time of each set of times. Returns whether something is due, or a command was refused; the
-- earliest of the times; and whether the setting `upkeep` is needed (lib/upkeep.lua). Deadlines alone do not need it.
local function first_times(P, call, now) -- inline
  local is_due, due, needs_upkeep = false, nil, false
  for _, set in ipairs({'sessions', 'scheduled', 'cron:due', 'deadlines'}) do
    local first = call('ZRANGE', P .. set, '0', '0', 'WITHSCORES')
    local time = tonumber(first[2])
    if first.err or time and time < now + 1 then
      is_due = true
      break
    end
    if time then
      due = math.min(due or time, time)
      needs_upkeep = needs_upkeep or set ~= 'deadlines'
    end
  end
  return is_due, due, needs_upkeep
end

-- Compares the records of ended tasks with the retention. Returns whether records have to be removed, or a command was
-- refused; and when the first record will be too old.
local function first_too_old(P, call, now, ended_age, ended_count, dead_age, dead_count) -- inline
  local is_due, due = false, nil
  for _, set in ipairs({'completed', 'cancelled', 'dead'}) do
    local first = call('ZRANGE', P .. set, '0', '0', 'WITHSCORES')
    local ended = tonumber(first[2])
    if ended then
      local age, count = tonumber(ended_age or @ONE_DAY_MS@), tonumber(ended_count or 10000)
      if set == 'dead' then age, count = tonumber(dead_age or 90 * @ONE_DAY_MS@), tonumber(dead_count or 10000) end
      local size = count >= 0 and call('ZCARD', P .. set) or 0
      is_due = type(size) == 'table' or size > count and count >= 0 or age >= 0 and ended + age < now + 1
      if age >= 0 then due = math.min(due or ended + age, ended + age) end
    end
    if is_due or first.err then
      is_due = true
      break
    end
  end
  return is_due, due
end

-- Returns the reply of maintain.lua if nothing is due. Then it also writes the setting `upkeep`, and removes `sequence`
-- if no task is ready, so that scores begin again. Else it writes nothing and returns nil: something is or may be due,
-- or Redis refused a command. The rest of maintain.lua then finds out which, and names a missing right or a key of a
-- wrong type.
local function quiet(P, max, life)
  local call, find = redis.pcall, string.find
  if not (P and find(P, '^[%w._:-]+:{[%w._~-]+}:$') and find(max or '', '^[1-9]%d*$') and
    (not life or #life < 16 and find(life, '^[1-9]%d*$'))) then return end
  local settings = call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'dead_age', 'dead_count', 'policy',
    'result_max', 'paused', 'upkeep', 'completed_bytes', 'waiters', 'large', 'in_force', 'paused_until', 'unsent', 'back', 'payload_max')
  if settings.err then return end
  local completed_age, completed_count, dead_age, dead_count, policy, result_max, paused, known = unpack(settings)
  -- If one of these settings or of the keys below exists, the steps of maintain.lua may have something to do.
  for i = 9, 16 do
    if settings[i] then return end
  end
  if call('EXISTS', P .. 'paused_groups', P .. 'tags', P .. 'groups', P .. 'parked', P .. 'limit_due', P .. 'limit_dirty', P .. 'wake_later',
    P .. 'fanout', P .. 'fanout_far', P .. 'outbox', P .. 'unread', P .. 'keep_until') ~= 0 then return end
  for i = 1, 4 do
    local number = settings[i]
    if number and number ~= '-1' and not find(number, '^%d+$') then return end
  end
  local time = call('TIME')
  if time.err then return end
  local now = time[1] * 1000 + (time[2] - time[2] % 1000) / 1000
  local is_due, due, needs_upkeep = first_times(P, call, now)
  if is_due then return end
  local is_old, old = first_too_old(P, call, now, completed_age, completed_count, dead_age, dead_count)
  if is_old then return end
  if old then due = math.min(due or old, old) end
  local is_ready = call('EXISTS', P .. 'ready') == 1
  if is_ready and not paused and call('EXISTS', P .. 'wake') == 0 then return end

  local upkeep
  if known or life and needs_upkeep then
    local _, ends, back
    upkeep, _, ends, back = next_upkeep(known, now, life and math.min(tonumber(life), @LATEST@ / 2))
    if back or ends > now then return end
  end
  -- Two commands may write. So the right to the second one is checked before the first one writes.
  local order = is_ready and 0 or call('HLEN', P .. 'sequence')
  if type(order) == 'table' or upkeep and order > 0 and not redis.acl_check_cmd('UNLINK', P .. 'sequence') then return end
  if upkeep then
    local said = needs_upkeep and call('HSET', P .. 'settings', 'upkeep', upkeep) or
      not needs_upkeep and call('HDEL', P .. 'settings', 'upkeep')
    if type(said) == 'table' then return end
  end
  if order > 0 and type(call('UNLINK', P .. 'sequence')) == 'table' then return end
  return {now, 0, due or -1, 0, 0, 0, 0, policy or '', {}, 0, result_max or '', 0, 0, 0, ''}
end
