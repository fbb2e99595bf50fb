-- The careful path of enqueue.lua for a repeated call: finds out which of its tasks exist already, and completes bulk
-- inserts whose segments got no place.
--
-- requires: base, sequence, enqueue_lists
-- gives: answer_known, end_placed, find_unplaced

-- The maximum number of tasks that a call gives places. If a call repeats one task of a segment without a place, it
-- gives places to all tasks of the segment, up to @SEGMENT_MAX@. A client repeats each bulk insert in a call of its
-- own, so it does not meet this limit.
local UNPLACED_MAX = 2048

-- Finds segments without a place of which the call repeats tasks. Returns the number of tasks in them; or nil and an
-- error text.
local function find_unplaced(request)
  local P, lists, count = request.P, {}, 0
  for _, task in ipairs(request.tasks) do
    local p = task.known and segment_of(task.known)
    if p and lists[p] == nil then
      lists[p] = call('SISMEMBER', P .. 'segments', p) == 0 and call('LRANGE', P .. 'segment:' .. p, '0', text(UNPLACED_MAX))
      count = count + #(lists[p] or {})
      if count > UNPLACED_MAX then
        return nil, 'its tasks and others of their bulk inserts are more than ' .. UNPLACED_MAX .. ': send fewer in one call'
      end
    end
  end
  request.unplaced, request.placed = lists, {}
  return count
end

-- The tasks of such a segment become single members of `ready`.
local function place_tasks_of_segment(request, envelope)
  local p = segment_of(envelope)
  if not p or request.placed[p] or not request.unplaced[p] then return end
  request.placed[p] = true
  for _, id in ipairs(request.unplaced[p]) do
    collect(request, 'ready', text(next_score(request.order)), id)
    request.accepted[id] = true
  end
end

-- The part of an envelope from "type" on, without the times, which lib/schedule.lua changes.
local function timeless(line, keeps_priority)
  local head, tail = string.match(line, '^("type":"[^"]*")(.*)$')
  if not head then return line end
  tail = string.gsub(string.gsub(tail, '^,"due":%d+', ''), '^,"delay":%d+', '')
  return head .. (keeps_priority and string.gsub(tail, '^,"priority":%-?%d+', '') or tail)
end

-- Whether the stored envelope is the one of the call. A task that replaced another one may have its priority.
local function is_same(envelope, task)
  local rest, o = task.rest, task.options
  if sub(envelope, -#rest) == rest then return true end
  local keeps_priority = o.conflict == 'replace' and not o.priority
  return timeless(sub(envelope, find(envelope, '"type":', 1, true) or 1), keeps_priority) == timeless(rest, keeps_priority)
end

-- The reply for a task whose id exists: 1 if the first copy of the call enqueued it; 0 if it is another task, or the
-- call contains it twice.
local function answer_known(request, task)
  request.answered = request.answered or {}
  if not task.known or request.answered[task.id] or not is_same(task.known, task) then return 0 end
  request.answered[task.id] = true
  place_tasks_of_segment(request, task.known)
  return 1
end

-- Deletes the lists of segments whose tasks are single members of `ready` now.
local function end_placed(request)
  for p in pairs(request.placed) do call('DEL', request.P .. 'segment:' .. p) end
end
