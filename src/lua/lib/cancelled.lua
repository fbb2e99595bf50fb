-- A task becomes cancelled.
--
-- requires: base, deadline, event, history, retention, readers, reads, slot, totals, unique, unrecorded, transitions
-- gives: end_cancelled

-- Ends a task as cancelled. The caller has removed it from its state. Its record is kept like that of a completed task.
-- `...`: names and values of further fields of its history and event; or false: the task is discarded, without a
-- record. Returns "cancelled".
local function end_cancelled(P, id, envelope, now, ...)
  count_total(P, 'cancelled')
  local o = header(envelope)
  unlock(P, id, o, true)
  if o.group or o.malformed then leave_slot(P, id) end
  forget_deadline(P, id, envelope)
  local kept_age, kept_count, reads = unpack(call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'reads'))
  if reads then readers.release(P, id) end
  local age, count = keep_limits(kept_age, kept_count, DAY)
  local is_discarded = (...) == false
  if age == 0 or count == 0 or is_discarded then
    forget(P, {id})
  else
    note_ended(P, id, now, 'cancelled', ...)
    enter_cancelled(P, id, text(now))
    trim_count(P, 'cancelled', count, 16, now)
  end
  if is_discarded then
    note_unrecorded(P, now)
    tell_as(P, 'discarded', id)
  else
    local tell = acting() and tell_as or tell
    tell(P, 'cancelled', id, ...)
  end
  return 'cancelled'
end
