-- Findings about sessions: each is in `sessions` and has a hash of leases. lib/check_states.lua says what a finding is.
--
-- requires: base
-- gives: find_lease_malformed, find_session_empty, find_session_unlisted, session_of

-- The session of one of its keys: running:, lost:, once:, woken: or hand:<session>:<thread>.
local function session_of(name)
  local family, session = match(name, '^([a-z]+):([^:]*)')
  return session, family
end

-- session_unlisted: there are data of a session that is not in `sessions`, so that nobody ends it.
local function find_session_unlisted(P, name)
  local session = session_of(name)
  if not session or call('EXISTS', P .. name) == 0 or call('ZSCORE', P .. 'sessions', session) then return end
  return session
end

-- session_empty: a session in `sessions` has no hash of leases.
local function find_session_empty(P, session)
  local expires = tonumber(call('ZSCORE', P .. 'sessions', session))
  if not expires or expires <= 0 then return end
  return call('EXISTS', P .. 'running:' .. session) == 0 and '' or nil
end

-- lease_malformed: "<key> <id>", and the lease is not "<since ms> <thread>".
local function find_lease_malformed(P, subject)
  local key, id = match(subject, '^(%S+) (.*)$')
  local lease = id and byte(id) ~= 35 and call('HGET', P .. key, id)
  return lease and not find(lease, '^%d+ .') and lease or nil
end
