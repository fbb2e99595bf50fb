-- The events of a call of enqueue.lua: one event `enqueued` with the ids of all ready tasks, and one event `scheduled`
-- with ids and times. A blocked task had its event when it was linked to its parents (lib/enqueue_children.lua).
--
-- requires: base, enqueue_parts
-- gives: tell_enqueued, tell_refused

-- Sets has_events of the order. The order may not have been read, because a task took the place of another one.
local function look_for_events(request) -- inline
  local order = request.order
  if not order.is_read then
    order.has_events = request.has_events
    if order.has_events == nil then order.has_events = call('HGET', request.P .. 'sequence', 'events') end
  end
end

-- Records that a task was refused because the task `holder` has the unique key `key`.
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
    -- An id that the call contains twice is recorded once.
    accepted[id] = nil
  end
  events.know_in_force(P, 'e')
  events.tell(P, 'enqueued', enqueued)
  events.tell(P, 'scheduled', scheduled, 'due', table.concat(times, ' '))
end
