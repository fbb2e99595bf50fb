-- The mark "cancel" of a task that was cancelled while it runs. In the envelope it stands behind the mark "info" of
-- lib/base.lua: {"info":1,"cancel":1, ... If the attempt completes, the task is completed. In all other cases the task
-- becomes cancelled when the attempt, or its lease, ends.
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

-- Removes the mark. Returns the new envelope.
local function unmark_cancelled(P, id, envelope)
  if not is_cancelled(envelope) then return envelope end
  envelope = '{"info":1,' .. sub(envelope, 22)
  call('HSET', P .. 'tasks', id, envelope)
  return envelope
end
