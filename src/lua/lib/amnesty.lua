-- A step of maintain.lua: renews settings.upkeep, which decides whether sessions are spared (lib/upkeep.lua). If
-- Redis's clock was set back, it also moves the times that this has made wrong (lib/set_back.lua).
--
-- requires: base, upkeep
-- gives: has_times, renew_amnesty
-- fields: may_drop_upkeep

-- Whether the queue has sessions, or anything else for which settings.upkeep is needed. paused_until: the value of
-- settings.paused_until when the call began, or false.
local function has_times(P, paused_until)
  return call('EXISTS', P .. 'sessions', P .. 'scheduled', P .. 'paused_groups', P .. 'cron:due') > 0 or
    paused_until and call('HEXISTS', P .. 'settings', 'paused_until') == 1
end

-- life: how long a session lives without a heartbeat, in ms, or nil. Returns {since, ends, may_drop_upkeep, more}.
-- Sessions that expired after `since` are spared until `ends`. may_drop_upkeep: this call wrote settings.upkeep, or
-- there is a pause for a time, which may end in this call. Then the caller checks at its end whether the field is still
-- needed.
local function renew_amnesty(P, now, life, settings, endings)
  local upkeep, since, ends, back = nil, now, 0, nil
  if settings.upkeep then
    upkeep, since, ends, back = next_upkeep(settings.upkeep, now, life)
  elseif life and has_times(P, settings.paused_until) then
    upkeep = next_upkeep(nil, now, life)
  end
  -- If the clock was set back again before all times were moved, the earlier work is finished first. Until then
  -- `upkeep` does not change, so that the next call detects the second step back, too.
  local earlier_left = back and settings.back
  if earlier_left then upkeep, back = nil, nil end
  local more = earlier_left
  if back or settings.back then
    local last, before = string.match(settings.upkeep or '', '^(%d+) (%d+)')
    local longest = max(life or 0, tonumber(before) or 0)
    local is_left = endings().set_back(P, now, {by = back, clock_before = tonumber(last), longest = longest, left = settings.back,
      large = settings.large})
    more = is_left or earlier_left
  end
  if upkeep then call('HSET', P .. 'settings', 'upkeep', upkeep) end
  return {since = since, ends = ends, may_drop_upkeep = upkeep or settings.upkeep and settings.paused_until, more = more}
end
