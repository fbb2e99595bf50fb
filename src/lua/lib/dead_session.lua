-- The session that is dead: that expired first, and is not spared.
--
-- requires: base, first_time
-- gives: dead_session, look_at_sessions
-- fields: is_dead, spared

-- When a session must have expired, at the latest, to be dead. since, ends: as next_upkeep of lib/upkeep.lua returns
-- them. During an amnesty (until `ends`) only those are dead that expired before it.
local function dead_before(now, since, ends)
  return now < ends and math.min(now, since) or now
end

-- nil: there is none.
local function dead_session(P, now, since, ends)
  return call('ZRANGEBYSCORE', P .. 'sessions', '-inf', text(dead_before(now, since, ends)), 'LIMIT', 0, 1)[1]
end

-- Returns {is_dead, spared, due}. is_dead: a session is dead; spared: until when others are spared, or 0; due: when the
-- next one may be dead, where none is now.
local function look_at_sessions(P, now, since, ends)
  local is_amnesty, spared = now < ends, 0
  if is_amnesty and call('ZCOUNT', P .. 'sessions', '(' .. text(dead_before(now, since, ends)), text(now)) > 0 then spared = ends end
  if dead_session(P, now, since, ends) then return {is_dead = true, spared = spared} end
  local first = first_time(P, 'sessions')
  return {spared = spared, due = first and is_amnesty and math.max(first, ends) or first}
end
