-- Operations on single tasks. They return "ok", or a word that names the reason of a refusal.
--
-- requires: base, result_blocks, cancelled, deadline, event, group_place, retention, dependency_edges, ready_last
-- requires: segment, readers, reads, slot, unique
-- requires: totals, wake_one, task_state, transitions
-- gives: cancel, free_of_children, leave_place, remove, to_ready

-- Removes a task from the keys of its state. The task is not running.
local function leave_place(P, id, state, envelope)
  if state == 'blocked' then return leave_parents(P, id) end
  if state == 'ready' then leave_segment(P, id, envelope) end
  local was_there = leave_state(P, state, id)
  if was_there == 0 and state == 'ready' then
    local p, place = search_segments(P, id)
    if p then take_out(P, '+' .. p, place + 1) end
    leave_ready(P, {id})
  end
  if state == 'ready' or state == 'parked' then leave_groups(P, id, envelope) end
  if state == 'scheduled' and has_info(envelope) then call('HDEL', P .. 'info:' .. id, 'place') end
  if state == 'dead' then unindex(P, id) end
end

local function to_ready(P, id, o)
  enter_ready_last(P, id, o)
  wake_one(P)
end

-- Cancels a waiting task. `...`: as in end_cancelled.
local function cancel(P, id, envelope, state, now, ...)
  if not is_waiting(state) then return state or '' end
  leave_place(P, id, state, envelope)
  end_cancelled(P, id, envelope, now, ...)
  notify(P, {id}, 'cancelled')
  return 'ok'
end

-- Returns nil if the task has no children, or if cascade is true: then its children are cancelled. Else "children
-- <number>".
local function free_of_children(P, id, cascade)
  local count = children_of(P, id)
  if count == 0 then return end
  if not cascade then return 'children ' .. text(count) end
  tell_children(P, id, 'cascade')
end

-- Counts a task that is deleted or moved before it has ended, as those are counted that end.
local function count_removed(P, state)
  if state ~= 'completed' and state ~= 'dead' and state ~= 'cancelled' then
    count_total(P, 'enqueued_extra')
  end
end

-- Deletes a task that is not running, with all its keys.
local function remove(P, id, envelope, state)
  if state == 'running' then return state end
  if state == 'blocked' then
    leave_parents(P, id, true)
  elseif state then
    local ended = state == 'completed' and call('ZSCORE', P .. 'completed', id)
    leave_place(P, id, state, envelope)
    if ended then leave_result_block(P, ended) end
  end
  -- A task that runs at most once can be completed and still run; then it keeps its unique key (lib/once.lua).
  local o = header(envelope)
  if state ~= 'completed' or o.unique_for then unlock(P, id, o, true) end
  if o.group or o.malformed then leave_slot(P, id) end
  forget_deadline(P, id, envelope)
  if has_info(envelope) then readers.release(P, id) end
  count_removed(P, state)
  forget(P, {id})
  tell(P, 'deleted', id)
  notify(P, {id}, 'deleted')
  return 'ok'
end
