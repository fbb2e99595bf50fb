-- A step of maintain.lua: removes records of completed tasks whose own retention (the option `keep`) has ended
-- (lib/readers.lua).
--
-- requires: base, first_time, readers, retention, transitions, unrecorded
-- gives: drop_held

-- The retention of the task has ended. If its id is in `completed`, the record is removed, even if the retention of the
-- queue is longer; if children may read it, it is kept in `retained` until these have ended.
-- The queue may keep the records of tasks that ended earlier: so the loss is recorded, with the time of that end.
local function drop_record(P, id, max)
  local is_read, ended = readers.unhold(P, id), call('ZSCORE', P .. 'completed', id)
  if ended then
    local noted = tonumber(call('HGET', P .. 'counters', 'unrecorded')) or 0
    if tonumber(ended) > noted then note_unrecorded(P, ended) end
    readers.forget_ahead(P, 'completed', {id, ended}, max)
    return
  end
  if is_read then return end
  local was_retained = leave_retained(P, id)
  if was_retained == 1 then readers.forget(P, {id}) end
end

-- The maximum number of records of a call. It does not depend on the budget, because it is small.
local HELD_MAX = 8

-- Returns {count, more, due}; count: how many retentions have ended.
local function drop_held(P, now, max)
  local room = min(max, HELD_MAX)
  local ids = call('ZRANGEBYSCORE', P .. 'keep_until', '-inf', text(now), 'LIMIT', 0, room)
  for i = 1, #ids do drop_record(P, ids[i], max) end
  return {count = #ids, more = #ids == room, due = #ids < room and first_time(P, 'keep_until') or nil}
end
