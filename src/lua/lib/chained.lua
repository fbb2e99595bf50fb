-- Chained tasks: those that a handler enqueues with its outcome.
--
-- requires: base, insert, messages, options
-- gives: chained_fault, enqueue_chained

-- What is wrong with such a task, or nil.
local function chained_fault(handle, options, rest) -- inline
  local queue, id = match(handle, '^([%w._~-]+)/(.+)$')
  local _, fault
  if queue then _, fault = checked_options(id, options, rest) end
  if not queue or fault then return 'a chained task: ' .. (fault or 'its handle is malformed') end
end

-- Enqueues a task that was checked. What takes more than a place in this queue goes through the outbox; then "later" is returned.
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
