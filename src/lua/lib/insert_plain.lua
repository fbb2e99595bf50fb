-- A ready task without options that a script makes.
--
-- requires: base, event, ready_last, wake_one
-- gives: insert_plain

-- rest: its envelope behind '{"at":<now>,'. False: there is a task with this id.
local function insert_plain(P, id, rest, now)
  if call('HSETNX', P .. 'tasks', id, '{"at":' .. text(now) .. ',' .. rest) == 0 then return false end
  if #rest > LARGE then call('HSET', P .. 'settings', 'large', '1') end
  enter_ready_last(P, id, {})
  tell(P, 'enqueued', id)
  wake_one(P)
  return true
end
