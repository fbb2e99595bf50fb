-- A step of maintain.lua: records of completed tasks with a retention of their own (`keep`) go when that is over
-- (lib/readers.lua).
--
-- requires: base, first_time, readers, retention, transitions
-- gives: drop_held

-- Its own time is over. Where a child may read it, it is kept until that has ended; one that stands in `completed` goes
-- before the retention of the queue ends.
local function drop_record(P, id, max)
  local is_read, ended = readers.unhold(P, id), call('ZSCORE', P .. 'completed', id)
  if ended then
    readers.forget_ahead(P, 'completed', {id, ended}, max)
    return
  end
  if is_read then return end
  local was_retained = leave_retained(P, id)
  if was_retained == 1 then readers.forget(P, {id}) end
end

-- A call drops so many of them, whatever the steps before it did.
local HELD_MAX = 8

-- Returns {count, more, due}.
local function drop_held(P, now, max)
  local room = min(max, HELD_MAX)
  local ids = call('ZRANGEBYSCORE', P .. 'keep_until', '-inf', text(now), 'LIMIT', 0, room)
  for i = 1, #ids do drop_record(P, ids[i], max) end
  return {count = #ids, more = #ids == room, due = #ids < room and first_time(P, 'keep_until') or nil}
end
