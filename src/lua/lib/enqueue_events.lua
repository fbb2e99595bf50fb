-- The events of a call of `enqueue`: `enqueued`, and `scheduled` with the times, each with the ids of its tasks. Where a task
-- waits for others, its event was told when it was linked.
--
-- requires: base, enqueue_parts
-- gives: tell_enqueued

local function tell_enqueued(request) -- inline
  local P, order, accepted = request.P, request.order, request.accepted
  if not order.is_read and next(accepted) then
    order.has_events = request.has_events
    if order.has_events == nil then order.has_events = call('HGET', P .. 'sequence', 'events') end
  end
  if not order.has_events then return end
  local events = part('events')
  local enqueued, scheduled, times = {}, {}, {}
  for _, task in ipairs(request.tasks) do
    local id = task.id
    local due, waits = request.due_of[id], request.waiting and request.waiting[id]
    if accepted[id] and not waits then
      local list = due and scheduled or enqueued
      list[#list + 1] = id
      if due then times[#times + 1] = due end
    end
    -- An id that the call has twice is told once.
    accepted[id] = nil
  end
  events.know_in_force(P, 'e')
  events.tell(P, 'enqueued', enqueued)
  events.tell(P, 'scheduled', scheduled, 'due', table.concat(times, ' '))
end
