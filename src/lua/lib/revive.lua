-- Retries. Needs what lib/control.lua needs, and that.
--
-- requires: base, cancel_mark, deadline, event, history, schedule, control, unique, transitions
-- gives: revive

-- Lua has room for 200 locals.
local restoring
local function restorer()
  if restoring then return restoring end
-- require: dependency_register, restore
  restoring = restore
  return restoring
end

-- A retried task stands in `blocked`, where it waits for parents again, or in `ready`.
local function to_blocked_or_ready(P, id, o, envelope, state, now)
  local pending = state ~= 'scheduled' and has_info(envelope) and restorer()(P, id, now) or 0
  if pending == 0 then return to_ready(P, id, o) end
  call('HSET', P .. 'info:' .. id, 'pending', text(pending))
  enter_blocked(P, id, text(now))
  return true
end

-- A dead, cancelled or scheduled task becomes ready now, or waits for its parents again; what a dead one failed and
-- crashed is forgotten.
local function revive(P, id, envelope, state)
  if state ~= 'dead' and state ~= 'cancelled' and state ~= 'scheduled' then return state or '' end
  local o = header(envelope, id)
  if o.malformed then return 'malformed' end
  if state ~= 'scheduled' and o.unique then
    local holder = lock(P, id, o)
    if holder and holder ~= id then return 'unique ' .. holder end
  end
  leave_place(P, id, state, envelope)
  if state == 'dead' then call('HDEL', P .. 'info:' .. id, 'failures', 'crashes', 'alone') end
  if state ~= 'scheduled' then envelope = has_begun(P, id, unmark_cancelled(P, id, envelope)) end
  put_off(P, id, envelope)
  local now = clock()
  local waits = to_blocked_or_ready(P, id, o, envelope, state, now)
  note(P, id, now, 'retried', 'from', state)
  tell(P, 'retried', id)
  if waits then tell(P, 'blocked', id) end
  return 'ok'
end
