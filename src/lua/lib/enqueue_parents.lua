-- Parents of new tasks must be known, or come in the same call. A task comes behind those that the call has, wherever
-- they stand in it: so they are there, or are refused, before it is.
--
-- requires: dependency_register, messages
-- gives: order_of_call, unknown_parent

-- The first parent in this queue that is neither known nor one of the tasks of this call that were accepted; nil: there
-- is none. Nobody hears that a task of a message was refused, so such a task dies of its parent instead.
local function unknown_parent(request, task)
  if request.source then return nil end
  return missing_parent(request.P, task.options.after, request.now, request.accepted, request.parent_states)
end

-- The edges of the call: children[j]: a list of the tasks that name the j-th as their parent; open[i]: how many such
-- parents the i-th task has. Of several tasks with the same id the last one counts.
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

-- The numbers of the tasks in the order in which they come: that of the call, but each behind its parents. Tasks that
-- wait for each other in a circle are the last: they are refused, as none of their parents has come.
local function order_of_call(request)
  local children, open = edges_of_call(request)
  local order, come = {}, {}
  for i = 1, #request.tasks do
    local at = #order
    if open[i] == 0 then order[at + 1] = i end
    -- Behind each task the children of which it was the last parent, where they stand before it in the call.
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
