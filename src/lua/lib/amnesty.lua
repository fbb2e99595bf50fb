-- A step of maintain.lua: renews settings.upkeep (lib/upkeep.lua), by which sessions are spared that could not send
-- heartbeats, and moves times that a jump of Redis's clock has made wrong (lib/set_back.lua).
--
-- requires: base, upkeep
-- gives: has_times, renew_amnesty
-- fields: may_drop_upkeep

-- Whether something of the queue depends on the clock. Else nobody need know when the queue was last maintained.
-- paused_until: the value of settings.paused_until when the call began, or false.
local function has_times(P, paused_until)
  return call('EXISTS', P .. 'sessions', P .. 'scheduled', P .. 'paused_groups', P .. 'cron:due') > 0 or
    paused_until and call('HEXISTS', P .. 'settings', 'paused_until') == 1
end

-- An amnesty is the time in which sessions are spared, until `ends`.
-- life: how long a session lives without a heartbeat, in ms, or nil. Returns {since, ends, may_drop_upkeep, more}.
-- Sessions that expired after `since` are spared until `ends`. may_drop_upkeep: this call wrote settings.upkeep, or
-- there is a pause for a time, which may end in this call; then the caller looks, as its last step, whether anything
-- depends on the clock still.
local function renew_amnesty(P, now, life, settings, endings)
  local upkeep, since, ends, back = nil, now, 0, nil
  if settings.upkeep then
    upkeep, since, ends, back = next_upkeep(settings.upkeep, now, life)
  elseif life and has_times(P, settings.paused_until) then
    upkeep = next_upkeep(nil, now, life)
  end
  -- A jump of the clock is dealt with after what an earlier one left to do. Until then `upkeep` stays as it is, so that
  -- the next call sees the jump, too.
  local earlier_left = back and settings.back
  if earlier_left then upkeep, back = nil, nil end
  local more = earlier_left
  if back or settings.back then
    local last, before = string.match(settings.upkeep or '', '^(%d+) (%d+)')
    local longest = math.max(life or 0, tonumber(before) or 0)
    local is_left = endings().set_back(P, now, {by = back, clock_before = tonumber(last), longest = longest, left = settings.back,
      large = settings.large})
    more = is_left or earlier_left
  end
  if upkeep then call('HSET', P .. 'settings', 'upkeep', upkeep) end
  return {since = since, ends = ends, may_drop_upkeep = upkeep or settings.upkeep and settings.paused_until, more = more}
end
