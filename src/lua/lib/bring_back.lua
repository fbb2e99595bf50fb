-- Tasks that a session held go back to the front of the queue: when the session ends (end_session.lua), and when it is
-- dead (reap.lua).
--
-- requires: cancel_mark, cancelled, dependency_edges, limit_state, requeue_front
-- gives: add_held, bring_back, held_tasks, leave_limits

-- back, envelopes: tasks that wait again, and their envelopes as they are now; gone: tasks that do not; cancelled:
-- those of them that end as cancelled, {id, envelope} each.
local function held_tasks()
  return {back = {}, envelopes = {}, gone = {}, cancelled = {}}
end

-- A task that has no envelope has been deleted. Returns whether the task goes back; then the caller adds it.
local function add_held(tasks, id, envelope)
  if envelope and not is_cancelled(envelope) then return true end
  tasks.gone[#tasks.gone + 1] = id
  if envelope then tasks.cancelled[#tasks.cancelled + 1] = {id, envelope} end
  return false
end

-- The tasks have left the session's hash. in_force: settings.in_force, or false.
local function leave_limits(P, now, in_force, tasks)
  if not in_force then return end
  call_first(P, tasks.back, tasks.envelopes, in_force)
  release(P, tasks.back, now, in_force, true)
  release(P, tasks.gone, now, in_force)
end

-- Behind leave_limits, and the event that the caller sends. turns: as in requeue_front.
local function bring_back(P, now, tasks, turns)
  requeue_front(P, tasks.back, tasks.envelopes, turns)
  for _, task in ipairs(tasks.cancelled) do
    end_cancelled(P, task[1], task[2], now)
    notify(P, {task[1]}, 'cancelled')
  end
end
