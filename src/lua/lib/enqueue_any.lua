-- Enqueues tasks of any kind, one after the other: what enqueue.lua does where a call is not common. The steps share
-- one table, the request, and have a table for each task: see new_request below and new_task in enqueue_request.lua.
--
-- requires: base, sequence, enqueue_request, enqueue_parts, enqueue_accept, enqueue_write, enqueue_events
-- gives: enqueue_any
-- fields: accepted, answered, began, due_of, elapsed, first_deadline, first_due, has_children, has_info, is_bulk
-- fields: is_irreversible, is_large
-- fields: has_events, is_plain, is_proven, is_repeated, known, marks_tagged, parent_states, payload_max, placed, rest
-- fields: source, unplaced
-- fields: waiting

--   P, now           the queue's prefix; Redis's clock in ms
--   tasks            list of tasks; of each id, rest (of its envelope), options (a table), and what is found out about
--                    it: known (the envelope of a task that has its id), due and deadline (ms), has_info (its own
--                    envelope is to be marked),
--                    place ({state, score}: that of the task that it replaces)
--   is_plain, is_bulk    no task has options; they came as a bulk insert
--   is_repeated      the call was sent before; elapsed, began: how long ago and when; is_proven: no record can be gone
--   source, number, floor    the call is that message of that queue
--   is_irreversible  the call may change other tasks than its own, which cannot be undone; has_children: a task names
--                    parents
--   answered         id -> true, of tasks that the first copy of the call enqueued
--   accepted         id -> true, of tasks that come; made: id -> options, of what is to be undone when a command fails
--   due_of           id -> its time, as text, of tasks that are scheduled
--   order            the queue's order (lib/sequence.lua)
--   marks_tagged     the envelope of a task with tags is marked
--   envelopes, ready, scheduled, deadlines    what is to be written: id and envelope, score and id, due and id, time
--                    and id; first_due, first_deadline: the least of these; is_large: a large envelope is among them
--   children         tasks that are to wait for others; waiting: id -> true, of those that do; parent_states: id ->
--                    state, of parents that were looked up
--   payload_max      the queue's limit of payloads in bytes; false: none; nil: not read yet; has_events: read with it
--                    where `order` was not
--   unplaced, placed     segments of bulk inserts (lib/enqueue_repeat.lua)
--
-- The table has room for all of these at once: to let it grow costs more than to make it.
local function new_request(P, now, made) -- inline
  return {P = P, now = now, made = made, tasks = {}, accepted = {}, due_of = {}, parent_states = {}, order = order_open(P),
    is_plain = nil, is_bulk = nil, is_repeated = nil, elapsed = nil, began = nil, is_proven = nil, source = nil, number = nil,
    floor = nil, is_irreversible = nil, has_children = nil, answered = nil, marks_tagged = nil, envelopes = nil,
    ready = nil, scheduled = nil, deadlines = nil, first_due = nil, first_deadline = nil, is_large = nil, children = nil,
    waiting = nil, unplaced = nil, placed = nil, payload_max = nil, has_events = nil}
end

-- Finds the envelopes of tasks that have the ids already.
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

-- Returns nil; or the reply, where nothing is to be done: an error, or {1}, as the message was received before.
local function refusal_of(request) -- inline
  if not request.is_irreversible and not request.source then return nil end
  -- What cannot be undone is begun only where no command will fail.
  local fault = part('rights')(request.P, nil, true)
  if fault then return fault end
  local source = request.source
  if source and part('message').was_received(request.P, source, request.number) then return {1} end
end

-- Looks for segments that this call is to give a place. Returns nil or an error. Their tasks were there before the
-- call, which does not remove them when a command fails: so it begins only where none will. A task that has a place,
-- and stands in its list all the same, would get another place by the next call, when it has run.
local function refusal_of_repeat(request) -- inline
  local unplaced, fault = part('repeat').find_unplaced(request)
  if fault then return redis.error_reply('ERR @NAME@: ' .. fault) end
  if unplaced > 0 then return part('rights')(request.P) end
end

-- A task whose id is not known, of a call whose first copy was sent a while ago, may have run and be gone with its
-- record. Or it was moved to another queue. Returns nil when that cannot be; else the reply: 1 when its unique key
-- proves that it came, or -1: not known.
local function answer_doubtful(request, task) -- inline
  if request.is_proven == nil then
    request.is_proven = part('proof')(request.P, request.now, request.elapsed, request.began)
  end
  local successor = request.is_proven and call('GET', request.P .. 'replaced_by:' .. task.id)
  if request.is_proven and not (successor and find(successor, '/', 1, true)) then return nil end
  local unique = task.options.unique
  return unique and call('GET', request.P .. 'unique:' .. unique) == task.id and 1 or -1
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

-- now: ms. made: gets what the call makes, also when it fails. Returns the reply.
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
