-- A child is told that one of its parents has ended.
--
-- requires: base, cancelled, dependency_death, dependency_edges, edge
-- gives: deliver

-- A child is cancelled with its parent, and its own children with it.
local function cascades(P, id, now)
  if not call('ZSCORE', P .. 'blocked', id) then return end
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope then return end
  leave_parents(P, id)
  tell_children(P, id, 'cascade')
  end_cancelled(P, id, envelope, now)
  notify(P, {id}, 'cancelled')
end

-- state: how the parent ended; "cascade": the child is cancelled with it. number: of the edge; nil: not known. Returns
-- whether the child may read the parent's record from now on.
local function deliver(P, id, parent, state, now, number)
  if state ~= 'cascade' then return edge_ended(P, id, parent, state, now, dies_of, number) end
  local edge = call('HGET', P .. 'parents:' .. id, parent)
  if edge and sub(edge, 2, 2) == '-' and is_meant(edge, number) then
    call('HSET', P .. 'parents:' .. id, parent, sub(edge, 1, 1) .. 'x' .. sub(edge, 3))
    cascades(P, id, now)
  end
end
