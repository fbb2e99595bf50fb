-- Returns tasks to the front of their priority, in the order of `ids`; envelopes[i] belongs to ids[i]. A band is the
-- range of scores of a priority, and a tag is the score within it (lib/sequence.lua).
--
-- The tasks become the first ones of their groups; tasks without a group count as one group. The groups take turns by
-- weight, as before: each task gets a place one step behind the task before it in its group. All groups begin at the
-- same place. It is so far before the head that all these tasks come before waiting tasks of their groups. If a group
-- has no waiting tasks, its tasks may take turns with those that wait.
--
-- requires: base, sequence, wake_one, put_aside, requeue_one, transitions
-- gives: spread, requeue_front

-- Sorts tasks, {id, group, weight} of each, and sets [4] of each to its distance from the place of the first one. All
-- distances differ. known: id -> distance, if they were computed before (lib/turns.lua), or nil.
local function spread(tasks, known)
  local behind, before, sorted = {}, 0, true
  for i, task in ipairs(tasks) do
    local lane = task[2] or ''
    task[4], task[5] = known and (known[task[1]] or 0) or behind[lane] or 0, i
    behind[lane] = task[4] + max(1, math.floor(STEP / (task[3] or 1)))
    sorted, before = sorted and task[4] >= before, task[4]
  end
  if not sorted then table.sort(tasks, function(a, b) return a[4] < b[4] or a[4] == b[4] and a[5] < b[5] end) end
  for i = 2, #tasks do tasks[i][4] = max(tasks[i][4], tasks[i - 1][4] + 1) end
end

-- Adds tasks of one priority to `ready`. turns: if they are a part of the tasks that are returned (lib/turns.lua), else
-- nil.
local function put_first(P, priority, tasks, turns)
  local base = priority * BAND
  local head, lasts, room = head_score(P, base), {}, 1
  spread(tasks, turns and turns.places)
  for _, task in ipairs(tasks) do
    local lane = task[2] or ''
    lasts[lane] = lasts[lane] or last_of_lane(P, priority, task[2])
    if not head or lasts[lane] >= head then room = task[4] + 1 end
  end
  -- In an empty band, virtual time continues from the last tag that was given there.
  local first, members, n, grouped = turns and turns.firsts[priority], {}, 0, false
  first = first or (head or virtual_time(order_open(P), priority)) - room
  for _, task in ipairs(tasks) do
    local at = max(base, min(first + task[4], base + BAND - 1))
    members[n + 1], members[n + 2], n = text(at), task[1], n + 2
    -- Later tasks of the group, or without one, get places behind it.
    local lane = task[2] or ''
    if at > lasts[lane] then
      lasts[lane] = at
      if task[2] then
        call('ZADD', P .. 'groups', text(at), text(priority) .. ':' .. task[2])
        grouped = true
      else
        call('HSET', P .. 'sequence', text(priority), text(at))
      end
    end
  end
  if grouped then call('HSET', P .. 'sequence', 'groups', '1') end
  enter_ready(P, members)
end

local function requeue_front(P, ids, envelopes, turns)
  local bands = {}
  if #ids > 0 then end_next(P) end
  for i = 1, #ids do
    local o = header(envelopes[i], ids[i])
    if o.malformed then
      put_aside(P, ids[i])
    else
      local priority = o.priority or 0
      bands[priority] = bands[priority] or {}
      table.insert(bands[priority], {ids[i], o.group, o.weight})
    end
  end
  for priority, tasks in pairs(bands) do put_first(P, priority, tasks, turns) end
  if #ids > 0 then wake_one(P) end
end
