-- A child dies of its parent.
--
-- requires: death, dependency_edges
-- gives: dies_of

-- Its own children are notified. state: how the parent ended; "unknown": it has no record.
local function dies_of(P, id, parent, state, now)
  local unknown = state == 'unknown'
  local kind, message = unknown and 'unknown_parent' or 'parent', 'the task it waited for, ' .. parent .. ', is ' ..
    (unknown and 'not known: it was never enqueued, or its record is gone' or state)
  leave_parents(P, id)
  dies(P, id, now, kind, message)
end
