-- Deadlines: a task that has not begun by a time dies.
--
--   deadlines zset  id -> that time
--
-- In the envelope the deadline follows "at": {"at":<ms>,"deadline":<ms>,"type":... A task that has begun has no deadline any more,
-- in neither place.
--
-- requires: base
-- gives: add_deadlines, deadline_of, forget_deadline, has_begun, keep_deadline

local function deadline_of(envelope)
  local from = has_info(envelope) and 11 or 2
  if sub(envelope, from, from + 8) == '"cancel":' then from = from + 11 end
  local start, time, behind = match(envelope, '^"at":%d+,()"deadline":(%d+),()', from)
  return tonumber(time), start, behind
end

-- Returns the envelope as it is now.
local function has_begun(P, id, envelope)
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

-- It waits again and has not begun. (Where its time was over meanwhile, maintain.lua has met it and passed it over.)
local function keep_deadline(P, id, envelope)
  local time = deadline_of(envelope)
  if time then add_deadlines(P, {text(time), id}, time) end
end
