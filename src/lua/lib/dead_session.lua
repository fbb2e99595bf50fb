-- Finds a dead session: it has expired, and is not spared (lib/upkeep.lua).
--
-- requires: base, first_time
-- gives: dead_session, look_at_sessions
-- fields: is_dead, spared

-- A session that expired at this time or before is dead. since, ends: as next_upkeep of lib/upkeep.lua returns them.
-- During an amnesty (until `ends`), sessions that expired after `since` are not dead.
local function dead_before(now, since, ends)
  return now < ends and min(now, since) or now
end

-- Returns the dead session that expired first, or nil.
local function dead_session(P, now, since, ends)
  return call('ZRANGEBYSCORE', P .. 'sessions', '-inf', text(dead_before(now, since, ends)), 'LIMIT', 0, 1)[1]
end

-- Returns {is_dead, spared, due}. is_dead: a session is dead; spared: until when sessions are spared, or 0; due: when
-- the next session may be dead, if none is dead now.
local function look_at_sessions(P, now, since, ends)
  local is_amnesty, spared = now < ends, 0
  if is_amnesty and call('ZCOUNT', P .. 'sessions', '(' .. text(dead_before(now, since, ends)), text(now)) > 0 then spared = ends end
  if dead_session(P, now, since, ends) then return {is_dead = true, spared = spared} end
  local first = first_time(P, 'sessions')
  return {spared = spared, due = first and is_amnesty and max(first, ends) or first}
end
