-- The lease of a running task ends by hand: the task is ready again, before all others of its priority, and its worker
-- is told (lib/revoke.lua), or asks (cancelled.lua). One that was cancelled while it ran ends as cancelled. task:
-- lib/read_task.lua.
--
-- requires: base, bring_back, deadline, event, history, revoke
-- gives: expire_lease

local function expire_lease(P, id, task, now)
  local in_force = call('HGET', P .. 'settings', 'in_force')
  know_in_force(P, in_force)
  act_as(P .. 'running:' .. task.session)
  local begun, tasks = revoke(P, id, task), held_tasks()
  if add_held(tasks, id, task.envelope) then
    note(P, id, now, 'lease_expired')
    if begun then fence(P, id, task.session, now) end
    local envelope = call('HGET', P .. 'tasks', id)
    if begun then envelope = drop_deadline(P, id, envelope) else keep_deadline(P, id, envelope) end
    tasks.back, tasks.envelopes = {id}, {envelope}
  end
  leave_limits(P, now, in_force, tasks)
  tell_as(P, 'lease_expired', tasks.back)
  bring_back(P, now, tasks)
  act_as(false)
end
