-- Most calls of maintain.lua find that nothing of the queue is due. That is asked here in few commands, and without the
-- functions that all else needs: it takes Redis a fifth of the instructions.
--
-- requires: upkeep
-- gives: quiet

-- Looks at everything that has a time. Returns whether something is due, or a command was refused; when the first of it
-- is due; and whether the field `upkeep` is needed. Deadlines alone do not need it: a gap in the upkeep does not move
-- them.
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

-- Looks at records of ended tasks, and at the ages and counts that are kept. Returns whether some are to be trimmed, or
-- a command was refused; and when the first one is too old.
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

-- The reply of maintain.lua when nothing is due. nil, and nothing is written: something is or may be due, or Redis
-- refuses a command; then the rest of maintain.lua looks closer, and names the missing right or the key of another
-- type. When nothing is due, this function writes `upkeep`, and removes `sequence` if no task is ready, so that scores
-- begin again.
local function quiet(P, max, life)
  local call, find = redis.pcall, string.find
  if not (P and find(P, '^[%w._:-]+:{[%w._~-]+}:$') and find(max or '', '^[1-9]%d*$') and
    (not life or #life < 16 and find(life, '^[1-9]%d*$'))) then return end
  local settings = call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'dead_age', 'dead_count', 'policy',
    'result_max', 'paused', 'upkeep', 'completed_bytes', 'waiters', 'large', 'in_force', 'paused_until', 'unsent', 'back', 'payload_max')
  if settings.err then return end
  local completed_age, completed_count, dead_age, dead_count, policy, result_max, paused, known = unpack(settings)
  -- Each of these settings, and of the keys below, gives the long way something to do.
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
  -- The second command is not refused once the first one has written.
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
