-- The careful path of enqueue.lua: writes accepted tasks with few commands, from the lists of the request
-- (enqueue_any.lua).
--
-- requires: base, sequence, wake_one, transitions, enqueue_lists, enqueue_parts
-- gives: queue_task, write_tasks

-- The task becomes scheduled if its time is to come, else ready, behind the others of its priority and group.
local function queue_task(request, task)
  local id, due, o = task.id, task.due, task.options
  if due and due > request.now then
    request.due_of[id] = text(due)
    request.first_due = math.min(request.first_due or due, due)
    collect(request, 'scheduled', due, id)
  else
    collect(request, 'ready', text(next_score(request.order, o.priority, o.group, o.weight)), id)
  end
end

local function write_ready(request) -- inline
  local P, list = request.P, request.ready
  order_save(request.order)
  -- More values of unpack may not fit on the stack of Redis's Lua.
  for first = 1, #list, 4000 do
    enter_ready(P, list, first, math.min(first + 3999, #list))
  end
  wake_one(P)
end

local function write_scheduled(request) -- inline
  local key, first = request.P .. 'scheduled', request.first_due
  local head = call('ZRANGE', key, '0', '0', 'WITHSCORES')
  part('times')(key, request.scheduled)
  if not head[2] or first < tonumber(head[2]) then announce_due(request.P, first) end
end

local function write_lists(request)
  local P = request.P
  if request.envelopes then call('HSET', P .. 'tasks', unpack(request.envelopes)) end
  if request.is_large then call('HSET', P .. 'settings', 'large', '1') end
  if request.ready then write_ready(request) end
  if request.scheduled then write_scheduled(request) end
  if request.deadlines then part('deadlines')(P, request.deadlines, request.first_deadline) end
  request.envelopes, request.ready, request.scheduled, request.deadlines = nil, nil, nil, nil
  request.first_due, request.first_deadline = nil, nil
end

-- Writes the lists. It is called at the end, and before a task replaces another one. The parents that a child has among
-- the tasks of the call are written by then, because they are enqueued before it (lib/enqueue_parents.lua).
local function write_tasks(request)
  write_lists(request)
  if not request.children then return end
  local free = part('children')(request)
  request.order = order_open(request.P)
  for _, task in ipairs(free) do queue_task(request, task) end
  write_lists(request)
end
