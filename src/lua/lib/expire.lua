-- A step of maintain.lua: waiting tasks die if their deadlines have passed, or if a key of theirs had a wrong type
-- (lib/foreign_key.lua).
--
-- requires: base, budget, control, deadline, death, event, foreign_key, task_state
-- gives: expire_overdue
-- fields: expire_overdue

-- Handles one member of `deadlines`. A task that is leased or has ended is only removed from the set. If it is returned
-- to the queue and had not begun, it is added again (lib/deadline.lua).
local function expire(P, now, id)
  local envelope = call('HGET', P .. 'tasks', id)
  local state = envelope and task_state(P, id)
  if is_waiting(state) and is_spoilt(envelope) then
    leave_place(P, id, state, envelope)
    call('ZREM', P .. 'deadlines', id)
    dies(P, id, now, 'malformed', header(envelope, id).malformed)
  elseif is_waiting(state) and deadline_of(envelope) then
    leave_place(P, id, state, envelope)
    mark_info(P, id, drop_deadline(P, id, envelope))
    dies(P, id, now, 'expired', 'not begun by its deadline')
  else
    call('ZREM', P .. 'deadlines', id)
  end
end

-- Handles at most `max` tasks. Returns {more}.
local function expire_overdue(P, now, max)
  local room = budget.room(8, 10, max)
  local ids = call('ZRANGEBYSCORE', P .. 'deadlines', '-inf', text(now), 'LIMIT', 0, room)
  act_as(false)
  for i, id in ipairs(ids) do
    if i > 1 and budget.is_over(i - 1) then return {more = true} end
    expire(P, now, id)
  end
  return {more = #ids == room}
end
