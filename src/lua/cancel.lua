#!lua flags=allow-oom
-- cancel: a waiting task will not run; its record is kept like that of a completed one. One that runs is marked, and
-- workers are told by the control channel, "cancel <queue> <id> <reason>": it is cancelled when it settles, unless it
-- is completed then. The reason is a field of its header.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  "cascade": tasks that wait for it are cancelled with it; "tell": they hear that it was cancelled, and the
--          rules of their edges apply; "": it is refused while there are any
-- ARGV[3]  the reason, a text of one line, or "": none
-- reply    "ok", or "ok more": tasks here or in other queues are still to hear of it (fan.lua), or "children <how
--          many>" that wait for it, or "running" when it is told to stop, or the state that does not allow it, or ""
--          when there is no such task
--
-- Sent twice: the second call finds the task cancelled and says so; one that runs is told again.
-- require: base, foreign_key, event, task_state, control, cancel_mark, header_members, removal

local P, reason = KEYS[1], ARGV[3] or ''
if #reason > @REASON_MAX@ or find(reason, '%c') then
  return redis.error_reply('ERR @NAME@: ARGV[3] is a line of at most @REASON_MAX@ bytes')
end

-- What JSON makes of the reason is a header's member, the last one; that of an earlier cancel goes.
local function with_reason(id, envelope)
  local line_end = find(envelope, '\n', 1, true)
  if reason == '' or header(envelope, id).malformed then return envelope end
  local list = members_of(sub(envelope, 1, line_end - 1))
  put_member(list, 'reason', cjson.encode(reason), {})
  envelope = join_members(list) .. sub(envelope, line_end)
  call('HSET', P .. 'tasks', id, envelope)
  return envelope
end

local task, reply = read_removal(P, 'tell')
if not task then return reply end
local id, envelope, state = task.id, task.envelope, task.state
if is_waiting(state) or state == 'running' then
  local why = not task.other and free_of_children(P, id, task.cascade)
  if why then return why end
end
if is_waiting(state) or state == 'running' then envelope = with_reason(id, envelope) end
local said = reason ~= '' and {'message', reason} or {}
if state ~= 'running' then return removal_reply(P, task, cancel(P, id, envelope, state, clock(), unpack(said))) end
mark_cancelled(P, id, envelope)
tell(P, 'cancelling', id, unpack(said))
publish_control(P, 'cancel', id .. (reason ~= '' and ' ' .. reason or ''))
return state
