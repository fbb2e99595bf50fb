#!lua flags=allow-oom
-- lease_task: leases one task that the caller names, out of its turn. The limits of the queue and of the task's group
-- hold, and so does a pause; the order of its group does not.
--
-- A blocked task that waits only for the signal "!worker.<id>" is for that worker alone (reeve_broadcast). A session of
-- this worker leases it, also in a paused queue and above the limits of the queue and of its type; it counts for them.
--
-- KEYS[1]  the queue's prefix
-- ARGV     id session thread   session, thread: as in turn.lua
-- reply    as turn.lua's long form: {now, refused, gone, extras}, and {1, id, envelope} behind them if it is leased.
--          refused: {} or {word}: "none" there is no such task, "paused", "limit", "put off" (this session may not run
--          it yet), or the state that does not allow it. gone: {1} where the session is not there: the caller calls
--          begin_session.lua, and this again
--
--   Example: thread 0 of session w-1 leases task A:
--     KEYS "reeve:{q}:"   ARGV "A" "w-1" "0"
--     reply: {1700000000000, {}, {}, {}, {1, "A", "{"at":..."}}
--
-- Sent twice, the second call finds the task running and says so. After a lost reply the thread calls recover.lua,
-- which returns the lease.
-- require: shortcuts, turn_settings
-- The functions make capturing the names above cheaper: see docs/scripts.md.
return (function()
-- require: base
return (function()
-- require: foreign_key, limit_state, schedule, allowed, put_aside, event, group_place, segment, task_state, transitions
return (function()
-- require: lease, flagged, limited_lease, read_task, dependency_edges

local P = KEYS[1]
local id, session, thread = ARGV[1], ARGV[2], ARGV[3]
if #ARGV ~= 3 then return redis.error_reply('ERR @NAME@: three arguments are needed: id, session, thread') end
local now, extras = clock(), {}
local function refuse(word)
  return {now, {word}, {}, {}}
end

local task, reply = read_task(P, id)
if not task then return reply == '' and refuse('none') or reply end
local running = P .. 'running:' .. session
local about = call('HGET', running, '#')
-- The worker that a blocked task is for.
local parents = P .. 'parents:' .. id
local worker = task.state == 'blocked' and call('HLEN', parents) == 1 and match(call('HKEYS', parents)[1], '^!worker%.(.*)$')
if worker and not about then return {now, {}, {1}, {}} end
local is_bound = worker and worker == match(about, '"worker":"([^"]*)"')
if task.state ~= 'ready' and not is_bound then return refuse(task.state or 'none') end
local s = call('HMGET', P .. 'settings', 'paused', 'in_force')
if s[1] and not is_bound then return refuse('paused') end
know_in_force(P, s[2])

local limits
if s[2] and s[2] ~= 'e' then
  limits = limits_open(P, now, s[2])
  local has_room = limits_room(limits, 1) > 0
  if not has_room and not is_bound then return refuse('limit') end
  limits.left = limits.left or 0
  limits_charge(limits, limits, task.envelope)
  local groups = limits.by_group and groups_of(P, task.envelope) or {}
  local record = groups[1] and call('HGET', P .. 'running_group', id)
  for i, group in ipairs(groups) do
    local room, has_slot = group_room(limits, group), has_slot_in(record, group)
    if not is_bound and (has_slot and room.rest or room.free) < 1 then return refuse('limit') end
    limits_charge(limits, room, task.envelope)
    limits.admitted[i] = {in_group = group, has_slot = has_slot, id = id}
  end
end

if not about then return {now, {}, {1}, {}} end
local how = has_info(task.envelope) and flagged.weigh(P, running, id, task.envelope, true, extras) or 'take'
if how == 'off' or how == 'stop' then
  local refusal = refuse('put off')
  refusal[4] = extras
  return refusal
end

enter_running(running, {id, text(now) .. ' ' .. thread})
if is_bound then
  leave_parents(P, id, true)
else
  leave_segment(P, id, task.envelope)
  local was_there = leave_state(P, 'ready', id)
  if was_there == 0 then
    -- It stands in a segment that its envelope does not name.
    local p, place = search_segments(P, id)
    if p then take_out(P, '+' .. p, place + 1) end
    leave_ready(P, {id})
  end
end
if limits and limits.admitted[1] then leave_groups(P, id, task.envelope) end
if tells(P) then
  act_as(running)
  tell_as(P, 'leased', {id}, 'thread', thread)
end
if limits then limits_take(limits, {id}) end
return {now, {}, {}, extras, {1, id, task.envelope}}
end)()
end)()
end)()
