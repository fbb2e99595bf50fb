#!lua flags=allow-oom
-- bulk_update: retries, cancels or deletes the tasks in one state that a filter picks, some at a time.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "retry", "cancel" or "delete"
-- ARGV[2]  a state that users see, but not running
-- ARGV[3]  the cursor: "" at first, then what the last reply said
-- ARGV[4]  how many tasks to look at, at least 1, of more than 1000 1000; fewer where the call has done enough
--          (lib/budget.lua)
-- ARGV[5]  only those whose last error is of this kind, or ""
-- ARGV[6]  only those of this type, or ""
-- ARGV[7]  only those with this tag, or ""
-- ARGV[8]  only those that ended (came, for waiting ones) at least so long ago, in ms; 0: any
-- ARGV[9...] what else the filter asks, names and values (lib/filter.lua)
-- reply    [1] the next cursor; "" at the end
--          [2] how many were looked at
--          [3] how many it was done to
--          [4] how many it could not be done to (a unique key is held by another, or others wait for it)
--
-- Tasks that come to that state after the first call are left alone: those that ended later, and those that were
-- enqueued later. What ended later than now did so before the clock was set back. Sent twice: the second call finds
-- less to do. bulk_look.lua tells which tasks are meant.
-- require: base
-- In a function, where the names above cost less to capture, and as there is room for 200 locals: see docs/scripts.md.
return (function()
-- require: foreign_key, budget, sequence, schedule, event, history, retention, unique, dependency_edges, task_state
-- require: cancelled
return (function()
-- require: control, revive, segment, unrecorded, bulk_call

local P, action, state, now = KEYS[1], ARGV[1] or '', ARGV[2], clock()
if not find(' retry cancel delete ', ' ' .. action .. ' ', 1, true) then
  return redis.error_reply('ERR @NAME@: ARGV[1] is "retry", "cancel" or "delete"')
end
local bulk, max = begin_bulk(P, {unpack(ARGV, 2)}, now, {'', 0, 0, 0})
if not bulk then return max end
budget.left = math.floor(budget.left * 3 / 4) -- what changes a task takes longer than what reads it

local is_noted = false
local function act(id, envelope)
  if action == 'retry' then return revive(P, id, envelope, state, true) end
  local why = free_of_children(P, id)
  if why then return why end
  if action == 'cancel' then return cancel(P, id, envelope, state, now) end
  if not is_noted then note_unrecorded(P, now) end
  is_noted = true
  return remove(P, id, envelope, state)
end

local limit = bulk.filter.limit
local seen, done, failed = 0, 0, 0
local function is_full()
  return seen > 0 and budget.left <= 0 or limit and done >= limit
end

local function visit(id, score)
  local envelope, gone = call('HGET', P .. 'tasks', id), false
  if envelope and bulk.means(id, envelope, tonumber(score)) then
    gone = act(id, envelope) == 'ok'
    if gone then done = done + 1 else failed = failed + 1 end
  end
  seen = seen + 1
  bulk.pass(score, not gone and id)
end

local first = bulk.next_rank()
if state == 'ready' then unfold(P, first, max) end
local at_end = visit_page(bulk, first, max, is_full, visit)
return {bulk.cursor(at_end), seen, done, failed}
end)()
end)()
