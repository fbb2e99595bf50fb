-- The events of a call of `enqueue`: `enqueued`, and `scheduled` with the times, each with the ids of its tasks. Where
-- a task waits for others, its event was told when it was linked.
--
-- requires: base, enqueue_parts
-- gives: tell_enqueued, tell_refused

-- Sets the `has_events` of the order, which may not have been read: a task may have come in the place of another one.
local function look_for_events(request) -- inline
  local order = request.order
  if not order.is_read then
    order.has_events = request.has_events
    if order.has_events == nil then order.has_events = call('HGET', request.P .. 'sequence', 'events') end
  end
end

-- The task `holder` holds the unique key `key`, so another one does not come.
local function tell_refused(request, holder, key) -- inline
  look_for_events(request)
  if request.order.has_events then
    part('events').know_in_force(request.P, 'e')
    part('events').tell(request.P, 'refused', holder, 'message', key)
  end
end

local function tell_enqueued(request) -- inline
  local P, accepted = request.P, request.accepted
  if next(accepted) then
    look_for_events(request)
  end
  local order = request.order
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
