-- Parents of new tasks must be known, or come in the same call.
--
-- requires: dependency_register
-- gives: unknown_parent

-- The first parent in this queue of the i-th task that is neither known nor one of the accepted or later tasks of this call;
-- nil: there is none. Nobody hears that a task of a message was refused, so such a task dies of its parent instead.
local function unknown_parent(request, task, i)
  if request.source then return nil end
  local comes = {}
  for j, other in ipairs(request.tasks) do comes[other.id] = j > i or request.accepted[other.id] or nil end
  return missing_parent(request.P, task.options.after, request.now, comes, request.parent_states)
end
