-- Chained tasks: those that a handler enqueues with its outcome.
--
-- requires: base, insert, messages, options
-- gives: chained_fault, enqueue_chained

-- What is wrong with such a task, or nil. What goes through the outbox is checked further where it arrives.
local function chained_fault(handle, options, rest) -- inline
  local queue, id = match(handle, '^([%w._~-]+)/(.+)$')
  local o, fault = options == '' and {} or decoded(options), 'its handle is malformed'
  if queue then fault = o and (form_fault(id, rest) or place_fault(o)) or not o and 'its options are not a JSON object' end
  return fault and 'a chained task: ' .. fault
end

-- Enqueues a task that was checked. What takes more than a place in this queue goes through the outbox; then "later" is
-- returned.
local function enqueue_chained(P, handle, options, rest, now) -- inline
  local queue, id = parts(handle)
  local o = options ~= '' and cjson.decode(options) or {}
  if queue == own_queue(P) and not o.unique and not o.after then
    insert_task(P, id, o, rest, now)
  else
    send(P, 'T', handle .. ' ' .. text(#options) .. ' ' .. options .. rest)
    announce_due(P, now)
    return 'later'
  end
end
