-- The careful path of enqueue.lua: a new task with the option `conflict` replaces the holder of its unique key.
--
-- requires: base, control, replacements, messages, sequence, task_state, unique
-- gives: replace_holder

-- The rest of an envelope with the priority of the replaced task, at the position where reschedule.lua puts a priority.
local function with_priority(rest, priority)
  local head, tail = string.match(rest, '^("type":"[^"]*")(.*)$')
  local due = string.match(tail, '^,"due":%d+') or string.match(tail, '^,"delay":%d+') or ''
  return head .. due .. ',"priority":' .. text(priority) .. sub(tail, #due + 1)
end

-- The task `id` does not exist any more. A task of this call may have the same id: the id is free for it again.
local function forget_accepted(request, id)
  request.accepted[id], request.due_of[id], request.parent_states[id] = nil, nil, nil
  for _, task in ipairs(request.tasks) do
    if task.id == id then task.known = false end
  end
end

local function names_parent(P, edges, id)
  local handle = own_queue(P) .. '/' .. id
  for _, edge in ipairs(edges or {}) do
    if canonical(edge[1]) == handle then return true end
  end
  return false
end

-- Decides whether the new task takes the place of the holder, and gives it the priority of the holder if it has none.
-- old: the header of the holder. score_or_time: the score of the holder in the set of its state.
local function take_place(task, old, state, score_or_time)
  local o, old_priority = task.options, old.priority or 0
  if o.conflict == 'debounce' then return end
  if not o.priority and old_priority ~= 0 then task.rest = with_priority(task.rest, old_priority) end
  o.priority = o.priority or old_priority
  local moves = o.at or o['in'] or state == 'blocked' or state ~= 'scheduled' and old_priority ~= o.priority
  if not moves then task.place = {state == 'parked' and 'ready' or state, score_or_time} end
end

-- The new task names no parents, and the holder is blocked. Returns the parents that the new task waits for instead,
-- and the time of the holder if the new task keeps it; nil: the holder has too many parents or children.
local function inherited(P, task, holder)
  local o = task.options
  local parents = heritage(P, holder, task.id)
  if not parents then return nil end
  local keeps_due = o.conflict == 'replace' and not o.at and not o['in']
  return parents, keeps_due and tonumber(call('HGET', P .. 'info:' .. holder, 'due'))
end

-- Replaces the holder. Changes due, rest and place of the task, and its options `after` and `priority`. Returns nil; or
-- the id of the task that has the key, and then the new task is refused. The caller has written all tasks that were
-- accepted before.
local function replace_holder(request, task, holder)
  local P, id, o = request.P, task.id, task.options
  local envelope = call('HGET', P .. 'tasks', holder)
  if not envelope then
    -- The holder was a task of this call, and was removed with its key at once; or it has ended, has no record, and its
    -- key is held for a time.
    forget_accepted(request, holder)
    return lock(P, id, o)
  end
  local state, score = task_state(P, holder)
  if not is_waiting(state) then return holder end
  local old, parents, due = header(envelope), nil, nil
  -- A key that is held for a time can outlive its task, and another task may have the id since.
  if old.unique ~= o.unique or names_parent(P, o.after, holder) then return holder end
  if state == 'blocked' and not o.after then
    parents, due = inherited(P, task, holder)
    if not parents then return holder end
  end
  if not hand_over(P, holder, id) then return holder end
  remove(P, holder, envelope, state)
  lock_as(P, id, o)
  request.order = order_open(P)
  forget_accepted(request, holder)
  if parents and #parents > 0 then o.after = parents end
  task.due = task.due or due or nil
  take_place(task, old, state, score)
end
