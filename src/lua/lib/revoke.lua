-- A session loses the lease of a running task by hand. What it sends of this attempt from then on is refused. Its
-- worker is told by the control channel, "revoke <queue> <id> <lease>", asks the handler to stop, and sends no outcome.
--
-- An outcome may be on its way, and most outcomes name their session and not their lease. So that it does not settle a
-- later lease of the same session, that session does not lease the task again (lib/flagged.lua) until its worker has
-- said that no outcome of this attempt will come any more (regain.lua); or until REVOKED_MS have passed, in case the
-- worker has never heard of it.
--
-- requires: base, transitions
-- gives: fence, revoke

-- An idle thread that was handed the task and has not taken it yet finds an empty item in place of it
-- (lib/wake_one.lua), or nothing where its session is dead. Returns whether there was one: then the attempt had not
-- begun.
local function take_handed(P, id, session, thread)
  local key = P .. 'hand:' .. session .. ':' .. thread
  if match(call('LINDEX', key, 0) or '', '^%d+ ([^\n]+)\n') ~= id then return false end
  call('DEL', key)
  if call('EXISTS', P .. 'running:' .. session) == 0 then return true end
  call('LPUSH', key, '')
  call('SADD', P .. 'woken:' .. session, session .. ':' .. thread)
  return true
end

-- task: lib/read_task.lua. Returns whether the attempt may have begun. The caller moves the task on, and tells the
-- limits.
local function revoke(P, id, task)
  local session, lease = task.session, task.lease
  -- A session that is being reaped has its leases in lost:<session>.
  local held = leave_running(P .. 'running:' .. session, {id})
  if held == 0 then leave_running(P .. 'lost:' .. session, {id}) end
  publish_control(P, 'revoke', id .. ' ' .. lease)
  return not take_handed(P, id, session, match(lease, ' (.*)$') or '')
end

-- Behind `revoke`, if the attempt may have begun and the task may run again. The caller marks the envelope.
local function fence(P, id, session, now)
  call('HSET', P .. 'info:' .. id, 'revoked', P .. 'running:' .. session, 'revoked_at', text(now))
end
