-- The task that a script changes.
--
-- requires: base, task_state
-- gives: read_task, read_waiting_task

-- Checks the user's rights and the types of keys, then finds the task. Returns {envelope, state, score, session,
-- lease}, where state is nil for a task that is in no state, and the last two are those of a running one; or nil and
-- the script's reply: an error, or "" when there is no such task.
local function read_task(P, id)
-- require: expect
  local fault = unfit(P, id)
  if fault then return nil, fault end
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope then return nil, '' end
  local state, score, session, lease = searched_state(P, id)
  return {envelope = envelope, state = state, score = score, session = session, lease = lease}
end

-- The same, of a task that waits; of another one nil and its state, or "".
local function read_waiting_task(P, id)
  local task, reply = read_task(P, id)
  if not task then return nil, reply end
  if not is_waiting(task.state) then return nil, task.state or '' end
  return task
end
