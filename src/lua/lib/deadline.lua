-- Deadlines: a task dies if it has not begun at a given time.
--
--   deadlines zset  id -> the deadline, in ms
--
-- The envelope has the deadline, too, behind "at": {"at":<ms>,"deadline":<ms>,"type":... A lease changes neither. If a
-- task has begun and leaves its session without having ended, drop_deadline removes both. If the deadline passes while
-- the task is leased, maintain.lua removes it from the set only; if the task had not begun and is returned,
-- keep_deadline adds it again. A worker does not begin a task whose deadline has passed: it settles the task as failed.
--
-- requires: base
-- gives: add_deadlines, deadline_of, drop_deadline, forget_deadline, keep_deadline

local function deadline_of(envelope)
  local from = has_info(envelope) and 11 or 2
  if sub(envelope, from, from + 8) == '"cancel":' then from = from + 11 end
  local start, time, behind = match(envelope, '^"at":%d+,()"deadline":(%d+),()', from)
  return tonumber(time), start, behind
end

-- The task has begun: removes its deadline. Returns the new envelope.
local function drop_deadline(P, id, envelope)
  local time, start, behind = deadline_of(envelope)
  if not time then return envelope end
  call('ZREM', P .. 'deadlines', id)
  envelope = sub(envelope, 1, start - 1) .. sub(envelope, behind)
  call('HSET', P .. 'tasks', id, envelope)
  return envelope
end

-- The task is removed, or has ended: removes its deadline from the set.
local function forget_deadline(P, id, envelope)
  if deadline_of(envelope) then call('ZREM', P .. 'deadlines', id) end
end

-- Adds deadlines. members: time, id, ... for ZADD; `first` is the earliest of the times. If it comes before all others,
-- the schedulers are notified.
local function add_deadlines(P, members, first)
  local head = call('ZRANGE', P .. 'deadlines', 0, 0, 'WITHSCORES')
  call('ZADD', P .. 'deadlines', unpack(members))
  if not head[2] or first < tonumber(head[2]) then announce_due(P, first) end
end

-- The task had not begun and waits again: adds its deadline again.
local function keep_deadline(P, id, envelope)
  local time = deadline_of(envelope)
  if time then add_deadlines(P, {text(time), id}, time) end
end
