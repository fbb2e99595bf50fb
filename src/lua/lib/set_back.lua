-- The clock was set back: what is to happen a while after something did is moved by as much; limits are looked at anew, and
-- so are recurring entries that come at an interval. (Times that somebody named, of tasks and other entries, stand.)
-- settings: as in tend.lua. Needs base.

-- Due at once, which is none of their slots: a worker finds the next one. (fire.lua makes slots that come again anew.)
local function find_slots_anew(P, now)
  for _, name in ipairs(call('ZRANGEBYSCORE', P .. 'cron:due', '(' .. text(now), '+inf', 'LIMIT', 0, 500)) do
    local definition = call('HGET', P .. 'cron', name)
    if definition and find(definition, '^{"spec":"every ') then call('ZADD', P .. 'cron:due', text(now + 1), name) end
  end
end

local function set_back(P, now, settings, by)
  local sessions = call('ZRANGE', P .. 'sessions', 0, -1, 'WITHSCORES')
  for i = 1, #sessions, 2 do
    local expiry = tonumber(sessions[i + 1])
    if expiry > now then call('ZADD', P .. 'sessions', text(math.max(now, expiry - by)), sessions[i]) end
  end
  for _, name in ipairs({'hold', 'events_until'}) do
    local at = tonumber(call('HGET', P .. 'settings', name))
    if at and at > now then call('HSET', P .. 'settings', name, text(math.max(now, at - by))) end
    if at and name == 'hold' then settings[9] = call('HGET', P .. 'settings', 'hold') end
  end
  local holds = call('ZRANGE', P .. 'holds', 0, 999, 'WITHSCORES')
  for i = 1, #holds, 2 do
    local at = tonumber(holds[i + 1])
    if at > now and at < LATEST then call('ZADD', P .. 'holds', text(math.max(now, at - by)), holds[i]) end
  end
  find_slots_anew(P, now)
  call('HDEL', P .. 'gate', 'opens')
  if call('EXISTS', P .. 'opening') == 0 then return end
  if call('EXISTS', P .. 'reopening') == 1 then
    call('HSET', P .. 'gate', 'again', 1)
  else
    call('RENAME', P .. 'opening', P .. 'reopening')
  end
end
