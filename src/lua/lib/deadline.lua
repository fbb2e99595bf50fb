-- Deadlines: a task that has not begun by a time dies.
--
--   deadlines zset  id -> that time
--
-- In the envelope the deadline follows "at": {"at":<ms>,"deadline":<ms>,"type":... A lease leaves the deadline in both
-- places. When a task that has begun leaves its session without having ended, drop_deadline removes both. Where its
-- time is over while the task is leased, maintain.lua removes it from the set alone; if the task had not begun,
-- keep_deadline brings it back. A worker does not begin a task whose time is over: it settles it as failed.
--
-- requires: base
-- gives: add_deadlines, deadline_of, drop_deadline, forget_deadline, keep_deadline

local function deadline_of(envelope)
  local from = has_info(envelope) and 11 or 2
  if sub(envelope, from, from + 8) == '"cancel":' then from = from + 11 end
  local start, time, behind = match(envelope, '^"at":%d+,()"deadline":(%d+),()', from)
  return tonumber(time), start, behind
end

-- The task has begun. Returns the envelope as it is now.
local function drop_deadline(P, id, envelope)
  local time, start, behind = deadline_of(envelope)
  if not time then return envelope end
  call('ZREM', P .. 'deadlines', id)
  envelope = sub(envelope, 1, start - 1) .. sub(envelope, behind)
  call('HSET', P .. 'tasks', id, envelope)
  return envelope
end

-- The task is removed, or has ended.
local function forget_deadline(P, id, envelope)
  if deadline_of(envelope) then call('ZREM', P .. 'deadlines', id) end
end

-- members: time, id, ... for ZADD; the first of them is due at `first`.
local function add_deadlines(P, members, first)
  local head = call('ZRANGE', P .. 'deadlines', 0, 0, 'WITHSCORES')
  call('ZADD', P .. 'deadlines', unpack(members))
  if not head[2] or first < tonumber(head[2]) then announce_due(P, first) end
end

-- The task waits again, and had not begun.
local function keep_deadline(P, id, envelope)
  local time = deadline_of(envelope)
  if time then add_deadlines(P, {text(time), id}, time) end
end
