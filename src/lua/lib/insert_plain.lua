-- A ready task without options that a script makes; and what it shares with a task that has options (lib/insert.lua).
-- Where Redis refuses a command, the task is not there, and the call can be sent again: what is left of it elsewhere is
-- found to be nobody's.
--
-- requires: base, event, ready_last, wake_one
-- gives: insert_envelope, insert_plain, place_ready

local function place_ready(P, id, o)
  enter_ready_last(P, id, o)
  tell(P, 'enqueued', id)
  wake_one(P)
end

-- place: puts the task into a state; `...`: its arguments behind the id. False: there is a task with this id.
local function insert_envelope(P, id, head, rest, place, ...)
  if #rest > LARGE then call('HSET', P .. 'settings', 'large', '1') end
  if call('HSETNX', P .. 'tasks', id, head .. rest) == 0 then return false end
  local good, fault = pcall(place, P, id, ...)
  if good then return true end
  call('HDEL', P .. 'tasks', id)
  error(redis.error_reply(fault))
end

-- rest: its envelope behind '{"at":<now>,'. False: there is a task with this id.
local function insert_plain(P, id, rest, now)
  return insert_envelope(P, id, '{"at":' .. text(now) .. ',', rest, place_ready, {})
end
