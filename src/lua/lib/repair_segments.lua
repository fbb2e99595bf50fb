-- Repairs of findings about segments (lib/check_segments.lua), sessions (lib/check_sessions.lua) and keys
-- (lib/check_keys.lua).
--
-- requires: base, check_keys, check_sessions, sequence, transitions, wake_one
-- gives: repair_key_type, repair_key_without_task, repair_segment_empty, repair_segment_id, repair_segment_lost
-- gives: repair_segment_unlisted, repair_session_empty, repair_session_unlisted

-- segment_lost: its tasks come last.
local function repair_segment_lost(P, p, length)
  local o = order_open(P)
  local first = next_score(o)
  for _ = 2, tonumber(length) do next_score(o) end
  order_save(o)
  call('SADD', P .. 'segments', p)
  enter_ready_at(P, '+' .. p, text(first))
  wake_one(P)
end

local function repair_segment_empty(P, p)
  call('SREM', P .. 'segments', p)
  leave_ready(P, {'+' .. p})
end

local function repair_segment_unlisted(P, p)
  call('SADD', P .. 'segments', p)
end

local function repair_segment_id(P, subject)
  local id, key = match(subject, '^(.*) (segment:%S+)$')
  call('LREM', P .. key, '1', id)
end

-- A session that lives renews its expiry; one that does not is reaped then.
local SESSION_MS = 60000
local function repair_session_unlisted(P, name, session)
  local _, family = session_of(name)
  if family == 'hand' or family == 'woken' then return call('UNLINK', P .. name) end
  local expires = family == 'running' and clock() + SESSION_MS or 0
  call('ZADD', P .. 'sessions', text(expires), session)
  announce_due(P, expires)
end

local function repair_session_empty(P, session)
  call('ZREM', P .. 'sessions', session)
end

-- Its data are lost already. Tasks that it concerned are found by themselves, or are malformed (lib/foreign_key.lua).
local function repair_key_type(P, name)
  local family = family_of(name)
  if family == 'info' or family == 'parents' then return call('HLEN', P .. name) end
  call('UNLINK', P .. name)
end

local function repair_key_without_task(P, name)
  local family, id = family_of(name)
  call('UNLINK', P .. name)
  if family == 'readers' then call('SREM', P .. 'read', id) end
end
