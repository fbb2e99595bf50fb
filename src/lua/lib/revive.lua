-- Retries. Needs what lib/control.lua needs, and that.
--
-- requires: base, cancel_mark, deadline, event, history, readers, result_blocks, schedule, control, totals, unique
-- requires: transitions
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

-- A completed task leaves its state, with its result and what is recorded of its run.
local function leave_completed(P, id)
  local ended = call('ZSCORE', P .. 'completed', id)
  readers.unhold(P, id)
  if ended then
    leave_ended(P, 'completed', {id})
    leave_result_block(P, ended)
  else
    leave_retained(P, id)
  end
  if call('HDEL', P .. 'results', id) == 1 then readers.uncount(P, {id}) end
  call('SREM', P .. 'completed_extra', id)
  call('HDEL', P .. 'info:' .. id, 'run', 'progress', 'progress_message')
end

-- A dead, cancelled or scheduled task becomes ready now, or waits for its parents again; what a dead one failed and
-- crashed is forgotten. completed: a completed task does so, too, unless tasks that have not ended may read its result.
local function revive(P, id, envelope, state, completed)
  if state ~= 'dead' and state ~= 'cancelled' and state ~= 'scheduled' and not (completed and state == 'completed') then
    return state or ''
  end
  local count = state == 'completed' and readers.count_of(P, id) or 0
  if count > 0 then return 'readers ' .. text(count) end
  local o = header(envelope, id)
  if o.malformed then return 'malformed' end
  if state ~= 'scheduled' and o.unique then
    local holder = lock(P, id, o)
    if holder and holder ~= id then return 'unique ' .. holder end
  end
  if state == 'completed' then leave_completed(P, id) else leave_place(P, id, state, envelope) end
  if state == 'dead' or state == 'completed' then call('HDEL', P .. 'info:' .. id, 'failures', 'crashes', 'alone', 'snoozes') end
  if state ~= 'scheduled' then envelope = drop_deadline(P, id, unmark_cancelled(P, id, envelope)) end
  -- It has not ended: it is counted once (lib/control.lua).
  if state ~= 'scheduled' then count_total(P, 'enqueued_extra', -1) end
  put_off(P, id, envelope)
  local now = clock()
  local waits = to_blocked_or_ready(P, id, o, envelope, state, now)
  note(P, id, now, 'retried', 'from', state)
  tell(P, 'retried', id)
  if waits then tell(P, 'blocked', id) end
  return 'ok'
end
