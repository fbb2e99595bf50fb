-- Enqueues a ready task without options that a script creates; lib/insert.lua does it with options. If Redis refuses a
-- command, the envelope is removed, so the task does not exist and the call can be repeated. An id that is left in
-- another key does no harm, because scripts ignore ids without envelopes.
--
-- requires: base, event, ready_last, wake_one
-- gives: insert_envelope, insert_plain, place_ready

local function place_ready(P, id, o)
  enter_ready_last(P, id, o)
  tell(P, 'enqueued', id)
  wake_one(P)
end

-- place: the function that puts the task into a state; `...`: its arguments behind the id. Returns false if a task has
-- the id.
local function insert_envelope(P, id, head, rest, place, ...)
  if #rest > @LARGE@ then call('HSET', P .. 'settings', 'large', '1') end
  if call('HSETNX', P .. 'tasks', id, head .. rest) == 0 then return false end
  local good, fault = pcall(place, P, id, ...)
  if good then return true end
  call('HDEL', P .. 'tasks', id)
  error(redis.error_reply(fault))
end

-- rest: its envelope behind '{"at":<now>,'. Returns false if a task has the id.
local function insert_plain(P, id, rest, now)
  return insert_envelope(P, id, '{"at":' .. text(now) .. ',', rest, place_ready, {})
end
