-- Cancelling. Needs base, keep, unique, event, history.
-- include: lib/deadline.lua
--
-- A task that is cancelled while it runs gets a mark in its envelope, behind that of lib/base.lua: {"info":1,"cancel":1, It is
-- cancelled when its session lets go of it, whichever way, but that it is completed if it completes.
local function is_cancelled(envelope)
  return sub(envelope, 11, 20) == '"cancel":1'
end

local function mark_cancelled(P, id, envelope)
  if is_cancelled(envelope) then return end
  call('HSET', P .. 'tasks', id, '{"info":1,"cancel":1,' .. sub(envelope, has_info(envelope) and 11 or 2))
end

-- Returns the envelope as it is now.
local function unmark_cancelled(P, id, envelope)
  if not is_cancelled(envelope) then return envelope end
  envelope = '{"info":1,' .. sub(envelope, 22)
  call('HSET', P .. 'tasks', id, envelope)
  return envelope
end

-- Its record is kept like that of a completed one.
local function end_cancelled(P, id, envelope, now)
  unlock(P, id, header(envelope), true)
  forget_deadline(P, id, envelope)
  local settings = call('HMGET', P .. 'settings', 'completed_age', 'completed_count')
  local age, count = keep_limits(settings[1], settings[2], DAY)
  if age == 0 or count == 0 then
    forget(P, {id})
  else
    note_ended(P, id, now, 'cancelled')
    call('ZADD', P .. 'cancelled', text(now), id)
    trim_count(P, 'cancelled', count, 16)
  end
  if acting() then tell_as(P, 'cancelled', id) else tell(P, 'cancelled', id) end
  return 'cancelled'
end
