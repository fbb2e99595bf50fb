-- The careful path of enqueue.lua: applies the options of one task, and accepts or refuses it.
--
-- requires: base, sequence, transitions, wake_one, enqueue_events, enqueue_lists, enqueue_parts, enqueue_write
-- gives: accept_task, apply_options

-- Takes the task's unique key; if the task replaces the holder of the key, removes that. Returns nil, or the id of the
-- holder if the key is not free. A task is added to `made` only if it has just taken the key: a key that was held
-- before, perhaps by this id, is not released when the call is undone.
local function claim_key(request, task) -- inline
  local o = task.options
  local holder = part('key')(request.P, task.id, o)
  if not holder then request.made[task.id] = o end
  if not holder or not o.conflict then return holder end
  -- The holder and its children may be tasks of this call. They are written now, because the replacement reads them
  -- from Redis.
  write_tasks(request)
  request.order.ahead = nil
  return part('replacement')(request, task, holder)
end

-- Whether envelopes of tasks with tags are to be marked: if the queue keeps no completed tasks. The worker then settles
-- the task in the long form of turn.lua, which removes it from the index of its tags.
local function are_tags_marked(request) -- inline
  if request.marks_tagged == nil then
    local keep = call('HMGET', request.P .. 'settings', 'completed_age', 'completed_count')
    request.marks_tagged = keep[1] == '0' or keep[2] == '0'
  end
  return request.marks_tagged
end

-- Reads payload_max, together with a value that the call needs anyway: the next place, or whether there are events.
local function read_payload_max(request, task) -- inline
  local o, order = task.options, request.order
  if o.after or task.due and task.due > request.now then
    local known = call('HMGET', request.P .. 'sequence', 'events', 'payload_max')
    request.has_events, request.payload_max = known[1], known[2] and tonumber(known[2])
  else
    order_read(order, o.priority, o.group)
    request.payload_max = order.payload_max and tonumber(order.payload_max)
  end
  request.payload_max = request.payload_max or false
end

-- Returns payload_max, as text, if the payload is longer; else nil. A task from a message is not refused, because
-- nobody would be notified.
local function exceeded_by(request, task) -- inline
  if request.payload_max == nil then read_payload_max(request, task) end
  if request.payload_max and not request.source and #task.rest - find(task.rest, '\n', 1, true) > request.payload_max then
    return text(request.payload_max)
  end
end

-- Sets due, deadline and has_info of the task; if it replaces another task, also its priority, rest and place. Returns
-- nil, or the reply if the task is not to be enqueued.
local function apply_options(request, task) -- inline
  local o, now = task.options, request.now
  task.due = o.at or o['in'] and now + o['in']
  if task.due then task.due = math.min(task.due, LATEST) end
  local limit = exceeded_by(request, task)
  if limit then return 'large ' .. limit end
  if o.after then
    local unknown = part('parents').unknown_parent(request, task)
    if unknown then return 'unknown ' .. unknown end
  end
  if o.unique then
    local holder = claim_key(request, task)
    if holder and request.is_repeated and holder == task.id then return 1 end
    if holder then
      tell_refused(request, holder, o.unique)
      return holder
    end
  end
  -- The first attempt needs the mark: it looks for results of parents, or the lease releases the unique key.
  task.has_info = o.after or o['until']
  local deadline = o.deadline or o.expires and now + o.expires
  if deadline then task.deadline = math.max(0, math.min(deadline, LATEST)) end
  if o.tags then
    local are_marked = are_tags_marked(request)
    task.has_info = task.has_info or are_marked
  end
end

-- The task gets the place of the task that it replaces.
local function put_in_place(request, task) -- inline
  local P, state, score = request.P, task.place[1], task.place[2]
  enter_state(P, state, task.id, score)
  if state == 'ready' then wake_one(P) else request.due_of[task.id] = text(score) end
end

-- Accepts the task: collects what is to be written, in the lists of the request.
local function accept_task(request, task) -- inline
  local id, o, deadline = task.id, task.options, task.deadline
  request.accepted[id], request.made[id] = true, o
  -- It may have been looked up as a parent before it existed.
  request.parent_states[id] = nil
  local mark = (task.has_info and '{"info":1,"at":' or '{"at":') .. text(request.now)
  if deadline then
    collect(request, 'deadlines', text(deadline), id)
    request.first_deadline = math.min(request.first_deadline or deadline, deadline)
    mark = mark .. ',"deadline":' .. text(deadline)
  end
  collect(request, 'envelopes', id, mark .. ',' .. task.rest)
  request.is_large = request.is_large or #task.rest > LARGE
  if o.tags then part('tags')(request.P, id, o.tags, request.now) end
  if o.after then
    collect(request, 'children', task)
  elseif task.place then
    put_in_place(request, task)
  else
    queue_task(request, task)
  end
end
