-- The mark of a task that was cancelled while it runs, in its envelope behind that of lib/base.lua:
-- {"info":1,"cancel":1, It is cancelled when its session lets go of it, whichever way, but that it is completed if it
-- completes.
--
-- requires: base
-- gives: is_cancelled, mark_cancelled, unmark_cancelled

local function is_cancelled(envelope)
  return sub(envelope, 11, 20) == '"cancel":1'
end

local function mark_cancelled(P, id, envelope)
  if is_cancelled(envelope) or sub(envelope, 1, 2) ~= '{"' then return end
  call('HSET', P .. 'tasks', id, '{"info":1,"cancel":1,' .. sub(envelope, has_info(envelope) and 11 or 2))
end

-- Returns the envelope as it is now.
local function unmark_cancelled(P, id, envelope)
  if not is_cancelled(envelope) then return envelope end
  envelope = '{"info":1,' .. sub(envelope, 22)
  call('HSET', P .. 'tasks', id, envelope)
  return envelope
end
