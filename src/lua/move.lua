#!lua flags=allow-oom
-- move: a task goes to another queue, with all that belongs to it but a result. It is a message V of the outbox until
-- arrive.lua takes it there (outbox.lua).
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  the other queue
-- ARGV[3]  "1": a running task first loses its lease, as by expire.lua; else it is refused
-- reply    "ok more": the message is to be carried; or the state that does not allow it, or "malformed", or "" when
--          there is no such task; "parents <how many>" or "children <how many>" are more than can be moved at once;
--          "open": its parents are not all named yet; "readers <how many>" tasks that have not ended may read its
--          result
--
-- Where it waits it goes on waiting: for its time, and for its parents. What has ended runs again there, as after
-- retry.lua. Tasks that wait for it wait for it there: those of this queue from now on, the others when they hear of
-- it. A dead or cancelled one waits for those of its parents again that have not completed.
--
-- Sent twice: the second call finds where the task has gone, and says "ok more" again.
-- require: base
-- The functions make capturing the names above cheaper: see docs/scripts.md.
return (function()
-- require: foreign_key, sequence, schedule, event, history, retention, unique, dependency_edges, task_state
return (function()
-- require: cancel_mark, control, deadline, expire_lease, messages, read_task, readers, replacements
-- require: dependency_register, move_out

local P, id, target = KEYS[1], ARGV[1], ARGV[2] or ''
local queue = own_queue(P or '')
if not id or not find(target, '^[%w._~-]+$') or #target > @QUEUE_MAX@ or target == queue then
  return redis.error_reply('ERR @NAME@: it takes a task, and another queue')
end
local from, to = (queue or '') .. '/' .. id, target .. '/' .. id

local task, reply = read_task(P, id)
if not task then
  if reply == '' and call('GET', P .. 'replaced_by:' .. id) == to then return 'ok more' end
  return reply
end
local state, envelope, now = task.state, task.envelope, clock()
if not state or state == 'running' and (ARGV[3] ~= '1' or is_cancelled(envelope)) then return state or '' end
local o = header(envelope, id)
if o.malformed then return 'malformed' end
local reader_count = state == 'completed' and readers.count_of(P, id) or 0
if reader_count > 0 then return 'readers ' .. text(reader_count) end
local parent_count, child_count = call('HLEN', P .. 'parents:' .. id), children_of(P, id)
if parent_count > @REPLACED_PARENTS_MAX@ then return 'parents ' .. text(parent_count) end
if child_count > @REPLACED_CHILDREN_MAX@ then return 'children ' .. text(child_count) end
local edges = edges_to_move(P, id, state == 'running' and 'ready' or state, to)
if not edges then return 'open' end
if state == 'running' then
  expire_lease(P, id, task, now)
  envelope, state = call('HGET', P .. 'tasks', id), task_state(P, id)
  o = header(envelope, id)
end

local options = {info = info_to_move(P, id, state), parents = edges}
if state == 'scheduled' then options.due = text(math.floor(task.score)) end
if state == 'blocked' then options.due = call('HGET', P .. 'info:' .. id, 'due') or nil end
if o.unique and call('GET', P .. 'unique:' .. o.unique) == id then
  -- Without a right to this command the key is held there until the task has ended.
  local left = o.unique_for and redis.pcall('PTTL', P .. 'unique:' .. o.unique)
  options.holds = text(type(left) == 'number' and max(left, 1) or 0)
elseif o.unique and not is_waiting(state) then
  options.holds = text(o.unique_for or 0)
end
if not is_waiting(state) then envelope = drop_deadline(P, id, unmark_cancelled(P, id, envelope)) end
options.children = child_count > 0 and hand_children(P, id, from, to) or {}
hand_parents(P, edges, to, now)
tell(P, 'moved', id)
remove(P, id, envelope, state)
-- Without the marks and the segment, which are of this queue.
envelope = string.gsub('{' .. match(envelope, '"at":.*$'), '^({"at":%d+,)"p":%d+,', '%1', 1)
options = cjson.encode(options)
send(P, 'V', to .. ' ' .. text(#options) .. ' ' .. options .. envelope)
note_replacement(P, id, to, '@REPLACEMENT_MS@')
announce_due(P, now)
return 'ok more'
end)()
end)()
