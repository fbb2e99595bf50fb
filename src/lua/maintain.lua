#!lua flags=allow-oom
-- maintain: the upkeep of a queue. A call does a part of all work that is due, and returns when more is due.
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     <max> [<life>]
--            <max>   how many tasks the call touches at most in each step, a whole number from 1; more than 1000 is 1000. A step
--                    touches fewer tasks where the call has executed many commands (lib/budget.lua)
--            <life>  how long a session lives without a heartbeat, in ms, as the caller has it configured; absent: unknown
-- reply    [1] now, in ms since the epoch
--          [2] 1 when there is more to do at once, else 0
--          [3] when the next work is due, in ms since the epoch; -1: none is known
--          [4] how many tasks became ready
--          [5] how many tasks of a dead session were recovered
--          [6] how many records of ended tasks were removed
--          [7] the dead session, or ""
--          [8] the queue's policy (JSON), or ""
--          [9] recurring entries that are due, at most 50: {name, time in ms, first line of its definition, ...}
--          [10] how many messages to other queues wait in `outbox`
--          [11] the queue's setting result_max, or ""
--          [12] 1 when a notice of this queue could not be sent in the last hour: poll the queue every second; else 0
--          [13] until when sessions are spared that expired while nobody maintained the queue (lib/upkeep.lua), in ms since the
--               epoch; 0: none is spared
--          [14] 1 when there are messages that no carrier understood (outbox.lua), else 0
--
-- Example: KEYS reeve:{mail}:  ARGV 200 15000
--   reply  1700000000000 0 1700000004000 2 1 0 "4f1c09" "" {"nightly", "1700000000000", "{...}"} 0 "" 0 0 0
--   Two scheduled tasks became ready. The session 4f1c09 was dead, and its one task is back. The entry "nightly" is due: the caller
--   sends fire.lua for it. It sends maintain again at 1700000004000, or earlier when it hears of work that is due before.
--
-- Failure                              Consequence                             The caller sends next
-- the arguments are not as above       an error that begins with ERR;          correct arguments
--                                      nothing is written
-- a right is missing, or a key has     NOPERM or WRONGTYPE and the name of     the same, later, when somebody has mended that
-- another type                         the command or key; nothing is written
-- Redis takes no writes: READONLY,     Redis's error; nothing is written       the same, to the new master or after a pause
-- MISCONF, and the like
-- the reply is lost                    all steps were done, or none            the same
-- the caller dies, or does not act on  the work stays where it is: entries in  any worker's next call returns it again
-- the reply                            `cron:due`, messages in `outbox`
-- nobody calls                         scheduled tasks stay; dead sessions     a client may call, too (reeve_maintain);
--                                      keep their tasks                        sessions that expired meanwhile are spared
--                                                                              for one life
--
-- Safe to send twice, and by several workers at once: each step looks for what is due now, and what a call has done is not due any
-- more. Only statistics count how often: a crash is counted when the task leaves the hash of its dead session, which is once.
-- require: upkeep, quiet

-- Most calls find nothing due, and end here after a few commands.
do
  local reply = quiet(KEYS[1], ARGV[1], ARGV[2])
  if reply then return reply end
end
-- require: base, wake_one
-- The functions make capturing the names above cheaper: see CONTRIBUTING.md.
return (function()
-- require: budget, sequence, requeue_front, retention, event, history
return (function()
-- require: whole, first_time, forget_past, amnesty, promote, trim, trim_order, trim_tags, cron_due

local function fault_of(P)
-- require: expect
  return unfit(P)
end

-- Modules that most calls do not need stand in functions, which make them at their first use. limits(): those for limits;
-- endings(): those that end tasks or bring tasks back, and those for steps of the clock.
local made_limits
local function limits()
  if made_limits then return made_limits end
-- require: limit_state, wake_all, unpark_groups, renew_limits
  local made_endings
  local function endings()
    if made_endings then return made_endings end
-- require: death, reap, expire, fan_out, set_back
    made_endings = {dies = dies, expire_overdue = expire_overdue, fan_some = fan_some, reap_session = reap_session,
      set_back = set_back}
    return made_endings
  end
  made_limits = {endings = endings, renew_limits = renew_limits, unpark_groups = unpark_groups, wake_all = wake_all}
  return made_limits
end
local function endings() return limits().endings() end

-- The oldest expired session: its tasks go back to the front, each of them without more than one crash counted. May meet a task
-- without an envelope, or one that was cancelled: it ends. Twice: the lease is gone with the first call, so that no task goes back
-- twice. Returns {count, session, more, due, spared}.
local function reap_dead(P, now, gate, max, amnesty)
  local spares = now < amnesty.ends
  local before = spares and math.min(now, amnesty.since) or now
  local session = call('ZRANGEBYSCORE', P .. 'sessions', '-inf', text(before), 'LIMIT', 0, 1)[1]
  if session then
    return endings().reap_session(P, now, session, gate, max)
  end
  local first = first_time(P, 'sessions')
  return {count = 0, session = '', spared = first and first <= now and amnesty.ends or nil,
    due = first and math.max(first, spares and amnesty.ends or first)}
end

-- Tasks past their deadlines die. Twice: a dead task has no deadline. Returns {more, found}.
local function expire_tasks(P, now, max)
  local head = first_time(P, 'deadlines')
  if not head or head > now then return {found = head ~= nil} end
  return {more = endings().expire_overdue(P, now, max).more, found = true}
end

-- Children learn how their parents ended, in steps. A step may make children ready, dead or cancelled, and may send messages to
-- other queues. Twice: a child hears of an edge once (lib/dependency_edges.lua). Returns {more, left}.
local function tell_ends(P, now, max)
  if call('EXISTS', P .. 'fanout', P .. 'fanout_far') == 0 then return {left = 0} end
  local more = endings().fan_some(P, now, budget.room(10, 40, max), budget.room(32, 16, max))
  return {more = more, left = call('LLEN', P .. 'fanout')}
end

-- When scheduled tasks and deadlines are due next, also those that the steps before have added. A score has places behind its
-- point (lib/ties.lua), which the reply cuts off.
local function next_times(P, now, has_deadlines)
  local first = first_time(P, 'scheduled')
  local deadline = has_deadlines and first_time(P, 'deadlines') or nil
  return {more = first and first < now + 1, due = first and math.min(first, deadline or first) or deadline}
end

-- Idle threads that are still to be woken, and groups with parked tasks. Twice: a thread that was woken has left `rousing`, and an
-- unparked task has left `parked`. Returns {more, due}.
local function unpark(P, now, max)
  if call('EXISTS', P .. 'opening', P .. 'reopening', P .. 'rousing') == 0 then return {} end
  local is_left = limits().wake_all(P, true)
  local groups = limits().unpark_groups(P, now, max)
  return {more = is_left or groups.more, due = groups.due}
end

-- Pauses and holds end, and what limits count is counted again. Returns {more, due, shut}; shut: no task starts now.
local function renew(P, now, gate, max)
  return limits().renew_limits(P, now, gate, max)
end

-- Clients that wait for a task have a time until which they wait.
local function forget_waiters(P, now, max)
  local more = forget_past(P, 'waiters', now, max)
  if call('EXISTS', P .. 'waiters', P .. 'linked') == 0 then call('HDEL', P .. 'settings', 'waiters') end
  return {more = more}
end

-- unsent: when a notice could not be sent. Returns whether that is less than an hour ago.
local function is_unsent(P, now, unsent)
  unsent = tonumber(unsent)
  if not unsent then return false end
  if math.abs(now - unsent) < 3600000 then return true end
  call('HDEL', P .. 'settings', 'unsent')
  return false
end

local function settings_of(P)
  local names, settings = {'completed_age', 'completed_count', 'completed_bytes', 'waiters', 'paused', 'large', 'gate', 'policy',
    'hold', 'result_max', 'dead_age', 'dead_count', 'unsent', 'upkeep', 'back'}, {}
  for i, value in ipairs(call('HMGET', P .. 'settings', unpack(names))) do settings[names[i]] = value end
  return settings
end

-- Arguments, rights and the types of keys. Nothing is written before all of them are known to be right.
local P, max, life = KEYS[1], whole(ARGV[1], 1, INT64), ARGV[2] and whole(ARGV[2], 0, INT64)
if not max or ARGV[2] and not life then
  return redis.error_reply('ERR @NAME@: it takes the most tasks to touch, and the life of a session in ms or nothing')
end
local fault = fault_of(P)
if fault then return fault end

local now, settings = clock(), settings_of(P)
-- Steps read the headers of envelopes, and so few of them where they may be large.
max = math.min(max, settings.large and 8 or @CALL_MAX@)
know_gate(P, settings.gate)

-- Each step returns a table. more: it has left work to do at once; due: when it has work next, in ms.
local more, next_due = false, nil
local function note(step)
  more = step.more or more
  if step.due then next_due = math.min(next_due or step.due, step.due) end
  return step
end

-- The steps. None of them may fail: what an envelope, an edge or another program has wrong is found before the step writes, and
-- becomes an outcome of that one task. A step that leaves work to do says so, and the next call goes on with it.

-- Sessions whose heartbeats could not come are spared for one life. After a step back of Redis's clock, times are moved by as
-- much. Twice: the first call has noted that it was here.
local amnesty = note(renew_amnesty(P, now, life and math.min(life, LATEST / 2), settings, endings))
-- Scheduled tasks that are due become ready; a malformed one dies. Twice: they have left `scheduled`.
local promoted = note(promote_due(P, now, max, endings))
local reaped = note(reap_dead(P, now, settings.gate, max, amnesty))
local deadlines = note(expire_tasks(P, now, max))
local ends = note(tell_ends(P, now, max))
note(next_times(P, now, deadlines.found))
-- Records of ended tasks that are too old or too many go; after tell_ends, as tasks end there, too. A record that goes may leave
-- children to tell. Twice: the second call finds those that are then too many.
local trimmed = trim_ended(P, now, settings, max, note)
if trimmed > 0 then note({more = call('LLEN', P .. 'fanout') > ends.left}) end
-- Groups and tags without tasks are forgotten. Twice: they are gone.
note(trim_order(P, settings.large, max))
trim_tag(P, max)
if settings.waiters then note(forget_waiters(P, now, max)) end
note(unpark(P, now, max))
local renewed = settings.gate and note(renew(P, now, settings.gate, max)) or {}
-- Recurring entries are only found here. An entry stays due until fire.lua has made its task.
local cron = note(due_entries(P, now))

local lists, messages = call('EXISTS', P .. 'outbox', P .. 'unread'), 0
if lists > 0 then messages = call('LLEN', P .. 'outbox') end
if (amnesty.changed or settings.upkeep and promoted.count > 0) and not has_times(P, settings.hold) then
  call('HDEL', P .. 'settings', 'upkeep')
end
-- A thread is woken where a task is ready: an earlier wake-up may have been lost with the thread that had it.
if not settings.paused and not renewed.shut and call('EXISTS', P .. 'ready') == 1 then note({more = wake_one(P)}) end
return {now, more and 1 or 0, next_due or -1, promoted.count, reaped.count, trimmed, reaped.session, settings.policy or '',
  cron.entries, messages, settings.result_max or '', is_unsent(P, now, settings.unsent) and 1 or 0, reaped.spared or 0,
  lists > (messages > 0 and 1 or 0) and 1 or 0}
end)()
end)()
