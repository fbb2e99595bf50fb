-- Most calls of maintain.lua find that nothing of the queue is due. That is asked here in few commands, and without the functions
-- that all else needs: it takes Redis a fifth of the instructions.
--
-- requires: upkeep
-- gives: quiet

-- The reply of maintain.lua when nothing is due. nil: something is, or a closer look has to tell. Writes no more than upkeep,
-- and lets the order begin anew where nothing waits; where Redis refuses that, the closer look says why.
local function quiet(P, most, life)
  local call, find = redis.pcall, string.find
  if not (P and find(P, '^[%w._:-]+:{[%w._-]+}:$') and find(most or '', '^[1-9]%d*$') and
    (not life or #life < 16 and find(life, '^%d+$'))) then return end
  local s = call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'dead_age', 'dead_count', 'policy',
    'result_max', 'paused', 'upkeep', 'completed_bytes', 'waiters', 'large', 'gate', 'hold', 'unsent', 'back')
  if s.err or s[9] or s[10] or s[11] or s[12] or s[13] or s[14] or s[15] or call('EXISTS', P .. 'holds', P .. 'tags',
    P .. 'groups', P .. 'parked', P .. 'opening', P .. 'reopening', P .. 'rousing', P .. 'fanout', P .. 'fanout_far',
    P .. 'outbox', P .. 'unread') ~= 0 then return end
  for i = 1, 4 do
    if s[i] and s[i] ~= '-1' and not find(s[i], '^%d+$') then return end
  end
  local time, next_due, needs_upkeep = call('TIME'), nil, false
  local now = time[1] * 1000 + (time[2] - time[2] % 1000) / 1000

  for i, set in ipairs({'sessions', 'scheduled', 'cron:due', 'deadlines', 'completed', 'cancelled', 'dead'}) do
    local first = call('ZRANGE', P .. set, '0', '0', 'WITHSCORES')
    if first.err then return end
    local at = tonumber(first[2])
    if at and i > 4 then
      local age, count = tonumber(s[1] or 86400000), tonumber(s[2] or 10000)
      if set == 'dead' then age, count = tonumber(s[3] or 7776000000), tonumber(s[4] or 10000) end
      if count >= 0 and call('ZCARD', P .. set) > count then return end
      at = age >= 0 and at + age
    elseif at and i < 4 then
      needs_upkeep = true
    end
    if at then
      if at < now + 1 then return end
      next_due = math.min(next_due or at, at)
    end
  end
  local waits = call('EXISTS', P .. 'ready') == 1
  if waits and not s[7] and call('EXISTS', P .. 'wake') == 0 then return end

  if s[8] or life and needs_upkeep then
    local upkeep, _, ends, back = look_after(s[8], now, life and math.min(tonumber(life), 4503599627370496))
    if back or ends > now then return end
    local said = upkeep and (needs_upkeep and call('HSET', P .. 'settings', 'upkeep', upkeep) or
      not needs_upkeep and call('HDEL', P .. 'settings', 'upkeep'))
    if type(said) == 'table' then return end
  end
  if not waits and type(call('UNLINK', P .. 'order')) == 'table' then return end
  return {now, 0, next_due or -1, 0, 0, 0, '', s[5] or '', {}, 0, s[6] or '', 0, 0, 0}
end
