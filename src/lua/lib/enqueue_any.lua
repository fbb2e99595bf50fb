-- The careful path of enqueue.lua: enqueues tasks of any kind, one after the other. The steps share one table, the
-- request (new_request below), and one table for each task (new_task in enqueue_request.lua).
--
-- requires: base, sequence, enqueue_request, enqueue_parts, enqueue_accept, enqueue_write, enqueue_events
-- gives: enqueue_any
-- fields: accepted, answered, began, due_of, elapsed, first_deadline, first_due, has_children, has_events, has_info
-- fields: is_bulk, is_irreversible, is_large, is_plain, is_proven, is_repeated, known, marks_tagged, parent_states
-- fields: payload_max, placed, rest, source, unplaced, waiting

--   P, now           the prefix of the queue; Redis's clock in ms
--   tasks            a list of tables, with the fields id, rest and options (a table) of the call, and these:
--                      known      the envelope of an existing task with this id, or false
--                      due, deadline   in ms, or nil
--                      has_info   its envelope gets the mark "info": info:<id> has more data (lib/base.lua)
--                      place      {state, score} of the task that it replaces, if it takes its place
--   is_plain, is_bulk    no task has options; the tasks are those of a bulk insert
--   is_repeated      the call was sent before
--   elapsed, began   of "again": <ms> and <at>
--   is_proven        the queue still has the records of all tasks that ended since (lib/proof.lua)
--   source, number, floor    of "carried": <queue>, <number> and <floor>
--   is_irreversible  the call may change other tasks than its own, and so cannot be undone
--   has_children     a task names parents
--   answered         id -> true, of existing tasks for which the reply is 1
--   accepted         id -> true, of tasks that this call enqueues
--   made             id -> options, of tasks that are removed again if a command fails
--   due_of           id -> time, as text, of tasks that are scheduled
--   order            what is known of the queue's order (lib/sequence.lua)
--   marks_tagged     the envelopes of tasks with tags get the mark "info"; nil: not decided yet
--   envelopes, ready, scheduled, deadlines    lists to be written: id and envelope; score and id; time and id; time and
--                    id. first_due, first_deadline: the lowest times; is_large: there is a large envelope
--   children         tasks that name parents and are not linked to them yet
--   waiting          id -> true, of tasks that were linked to their parents and are blocked, or were
--   parent_states    id -> state, of parents that were looked up
--   payload_max      the limit in bytes; false: none; nil: not read yet
--   has_events       whether the queue has events, if it was read together with payload_max and not into `order`
--   unplaced, placed     p -> ids, of segments without a place; p -> true, of those that got one
--                        (lib/enqueue_repeat.lua)
--
-- All fields are set at once: it costs less than to let the table grow.
local function new_request(P, now, made) -- inline
  return {P = P, now = now, made = made, tasks = {}, accepted = {}, due_of = {}, parent_states = {}, order = order_open(P),
    is_plain = nil, is_bulk = nil, is_repeated = nil, elapsed = nil, began = nil, is_proven = nil, source = nil, number = nil,
    floor = nil, is_irreversible = nil, has_children = nil, answered = nil, marks_tagged = nil, envelopes = nil,
    ready = nil, scheduled = nil, deadlines = nil, first_due = nil, first_deadline = nil, is_large = nil, children = nil,
    waiting = nil, unplaced = nil, placed = nil, payload_max = nil, has_events = nil}
end

-- Reads the envelopes of existing tasks with these ids.
local function look_up_ids(request) -- inline
  local tasks, key, ids = request.tasks, request.P .. 'tasks', {}
  if #tasks == 1 then
    tasks[1].known = call('HGET', key, tasks[1].id)
  else
    for i = 1, #tasks do ids[i] = tasks[i].id end
    local known = call('HMGET', key, unpack(ids))
    for i = 1, #tasks do tasks[i].known = known[i] end
  end
end

-- Returns the reply if nothing is to be done: an error, or {1} if the message was received before. Else nil.
local function refusal_of(request) -- inline
  if not request.is_irreversible and not request.source then return nil end
  -- A call that cannot be undone checks first that no command of it will fail.
  local fault = part('rights')(request.P, nil, true)
  if fault then return fault end
  local source = request.source
  if source and part('message').was_received(request.P, source, request.number) then return {1} end
end

-- Looks for segments that have no place, of which this call repeats tasks. Returns nil or an error. The tasks of such a
-- segment existed before the call, so it cannot undo what it does to them: it checks first that no command will fail.
-- Otherwise a task could have a place and stay in the list of the segment; the next call would give it a place again.
local function refusal_of_repeat(request) -- inline
  local unplaced, fault = part('repeat').find_unplaced(request)
  if fault then return redis.error_reply('ERR @NAME@: ' .. fault) end
  if unplaced > 0 then return part('rights')(request.P) end
end

-- A task of a call with "again" whose id does not exist: the first copy may have enqueued it. It may have ended since,
-- and have no record; or it was replaced, or moved to another queue. Returns nil if that is impossible; else the reply:
-- 1 if the task was certainly enqueued, because it has its unique key, or because a task of this call replaced it; else
-- -1.
local function answer_doubtful(request, task) -- inline
  if request.is_proven == nil then
    request.is_proven = part('proof')(request.P, request.now, request.elapsed, request.began)
  end
  local successor = request.is_proven and call('GET', request.P .. 'replaced_by:' .. task.id)
  if request.is_proven and not successor then return nil end
  local unique, is_of_call = task.options.unique, false
  for _, other in ipairs(successor and request.tasks or {}) do is_of_call = is_of_call or other.id == successor end
  return (is_of_call or unique and call('GET', request.P .. 'unique:' .. unique) == task.id) and 1 or -1
end

-- Returns the reply for a task.
local function enqueue_task(request, task) -- inline
  if task.known or request.accepted[task.id] then
    if not request.is_repeated then return 0 end
    return part('repeat').answer_known(request, task)
  end
  local refusal
  if request.elapsed then refusal = answer_doubtful(request, task) end
  if refusal then return refusal end
  refusal = apply_options(request, task)
  if refusal then return refusal end
  accept_task(request, task)
  return 1
end

-- now: ms. made: is filled with the tasks to remove if the call fails. Returns the reply.
local function enqueue_any(P, given, now, made)
  local request = new_request(P, now, made)
  local fault = read_request(request, given)
  if fault then return redis.error_reply('ERR @NAME@: ' .. fault) end
  if #request.tasks == 0 then return {} end
  local refusal = refusal_of(request)
  if refusal then return refusal end
  look_up_ids(request)
  if request.is_repeated then refusal = refusal_of_repeat(request) end
  if refusal then return refusal end
  local replies, tasks = {}, request.tasks
  local order = request.has_children and #tasks > 1 and part('parents').order_of_call(request)
  for n = 1, #tasks do
    local i = order and order[n] or n
    local task = tasks[i]
    local reply = enqueue_task(request, task)
    replies[i] = reply
  end
  write_tasks(request)
  if request.is_repeated then part('repeat').end_placed(request) end
  if request.source then part('message').note_received(P, request.source, request.number, request.floor) end
  tell_enqueued(request)
  return replies
end
