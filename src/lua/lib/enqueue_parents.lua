-- The careful path of enqueue.lua: parents of new tasks. A parent must exist, have a record, or be a task of the same
-- call. Parents of the same call are enqueued, or refused, before their children, in whatever order the call has them.
--
-- requires: dependency_register, messages
-- gives: order_of_call, unknown_parent

-- Returns the id of the first unknown parent: it is in this queue, has no record, and is no accepted task of this call.
-- nil: there is none. A task from a message is not refused, because nobody would be notified; it dies instead
-- (lib/enqueue_children.lua).
local function unknown_parent(request, task)
  if request.source then return nil end
  return missing_parent(request.P, task.options.after, request.now, request.accepted, request.parent_states)
end

-- The edges between tasks of the call. Returns two lists: children[j] is a list of the numbers of the tasks that name
-- task j as a parent; open[i] is the number of parents that task i has in the call. If several tasks have one id, the
-- last one is the parent.
local function edges_of_call(request)
  local tasks, queue, places, children, open = request.tasks, own_queue(request.P), {}, {}, {}
  for i, task in ipairs(tasks) do places[task.id], open[i] = i, 0 end
  for i, task in ipairs(tasks) do
    for _, edge in ipairs(task.options.after or {}) do
      local theirs, parent_id = parts(edge[1])
      local j = theirs == queue and places[parent_id]
      if j and j ~= i then
        children[j] = children[j] or {}
        table.insert(children[j], i)
        open[i] = open[i] + 1
      end
    end
  end
  return children, open
end

-- Returns the numbers of the tasks in the order in which they are enqueued: that of the call, but each task behind its
-- parents. Tasks that wait for each other in a circle come last; they are refused, because their parents do not exist.
local function order_of_call(request)
  local children, open = edges_of_call(request)
  local order, come = {}, {}
  for i = 1, #request.tasks do
    local at = #order
    if open[i] == 0 then order[at + 1] = i end
    -- Behind each task come those of its children that have all their parents now and are before it in the call.
    while order[at + 1] do
      at = at + 1
      come[order[at]] = true
      for _, child in ipairs(children[order[at]] or {}) do
        open[child] = open[child] - 1
        if open[child] == 0 and child < i then order[#order + 1] = child end
      end
    end
  end
  for i = 1, #request.tasks do
    if not come[i] then order[#order + 1] = i end
  end
  return order
end
