-- What people do to single tasks. Each returns "ok" or the word that says why not.
--
-- requires: base, result_blocks, cancelled, deadline, event, group_place, retention, dependency_edges, ready_last
-- requires: segment, readers, reads, slot, unique
-- requires: wake_one, task_state, transitions
-- gives: cancel, free_of_children, leave_place, remove, to_ready

-- A task leaves the place where it waits, or where it stands as ended.
local function leave_place(P, id, state, envelope)
  if state == 'blocked' then return leave_parents(P, id) end
  if state == 'ready' then leave_segment(P, id, envelope) end
  local was_there = leave_state(P, state, id)
  if was_there == 0 and state == 'ready' then
    local p, place = search_segments(P, id)
    if p then take_out(P, '+' .. p, place + 1) end
    leave_ready(P, {id})
  end
  local group = (state == 'ready' or state == 'parked') and group_of(envelope)
  if group then leave_group(P, id, group) end
  if state == 'scheduled' and has_info(envelope) then call('HDEL', P .. 'info:' .. id, 'place') end
  if state == 'dead' then unindex(P, id) end
end

local function to_ready(P, id, o)
  enter_ready_last(P, id, o)
  wake_one(P)
end

-- A waiting task will not run; its record is kept like that of a completed one. Behind the time: as in end_cancelled.
local function cancel(P, id, envelope, state, now, ...)
  if not is_waiting(state) then return state or '' end
  leave_place(P, id, state, envelope)
  end_cancelled(P, id, envelope, now, ...)
  notify(P, {id}, 'cancelled')
  return 'ok'
end

-- Nobody waits for the task, or its children are cancelled with it. Returns nil, or the word that says how many there
-- are.
local function free_of_children(P, id, cascade)
  local count = children_of(P, id)
  if count == 0 then return end
  if not cascade then return 'children ' .. text(count) end
  tell_children(P, id, 'cascade')
end

-- A task that is not running goes, with all that belongs to it.
local function remove(P, id, envelope, state)
  if state == 'running' then return state end
  if state == 'blocked' then
    leave_parents(P, id, true)
  elseif state then
    local ended = state == 'completed' and call('ZSCORE', P .. 'completed', id)
    leave_place(P, id, state, envelope)
    if ended then leave_result_block(P, ended) end
  end
  -- One that is completed and runs, for it runs at most once, keeps its key: lib/once.lua.
  local o = header(envelope)
  if state ~= 'completed' or o.unique_for then unlock(P, id, o, true) end
  if o.group or o.malformed then leave_slot(P, id) end
  forget_deadline(P, id, envelope)
  if has_info(envelope) then readers.release(P, id) end
  forget(P, {id})
  tell(P, 'deleted', id)
  notify(P, {id}, 'deleted')
  return 'ok'
end
