#!lua flags=allow-oom
-- maintain: the upkeep of a queue. A call does a part of all work that is due, and says whether more is due. It runs also when Redis
-- is out of memory (allow-oom), since it frees memory: records go, and what it adds is small and bounded.
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     <max> [<life>]
--            <max>   how many tasks the call touches at most in each step, a whole number from 1. It only lowers what the budget
--                    of a call allows (lib/budget.lua), which all steps share: where nothing else is due about 130 scheduled
--                    tasks, 50 leases (28 under limits) or 400 records; each step gets its least number however much the steps
--                    before it did. Where envelopes may be large it is 8
--            <life>  how long a session lives without a heartbeat, in ms, as the caller has it configured; absent: unknown
-- reply    what a worker's scheduler does with each part stands behind the arrow; all are numbers but [7], [8], [9] and [11]
--          [1] now, in ms since the epoch -> it knows how far Redis's clock is ahead of its own
--          [2] 1 when there may be more to do at once, else 0 -> it sends the same call again at once
--          [3] when the next work is due, in ms since the epoch, whole; -1: none is known -> it sends the next call then; earlier
--              when a notice `due` says so, and one session's life after this call at the latest
--          [4] how many scheduled tasks became ready -> it logs the number
--          [5] how many leases of a dead session were dissolved: most of these tasks are ready again, cancelled ones have ended
--              -> it logs the number
--          [6] how many records of ended tasks left their sets; most are gone, those that somebody may still read are in
--              `retained` -> nothing
--          [7] the dead session, or "" -> it logs it
--          [8] the queue's policy (JSON), or "" -> its threads decide on retries and on tasks that crashed by it
--          [9] recurring entries that are due, at most @CRON_DUE_MAX@: {name, time in ms, first line of its definition, ...}
--              -> it sends fire.lua for each, and the next call at once when the page is full
--          [10] how many messages to other queues wait in `outbox` -> it carries them (outbox.lua)
--          [11] the queue's setting result_max, or "" -> its threads refuse larger results
--          [12] 1 when a notice of this queue could not be sent in the last hour, else 0 -> it sends a call every second, as it may
--               miss notices
--          [13] until when sessions are spared that expired while nobody maintained the queue (lib/upkeep.lua), in ms since the
--               epoch; 0: none is spared, or this call reaped another session -> it logs when that begins
--          [14] 1 when there are messages that no carrier understood (`unread`), else 0 -> it has them put back into `outbox`, once
--               in its life
--
-- Example: KEYS reeve:{mail}:  ARGV 200 15000
--   reply  1700000000000 1 1700000004000 2 1 0 "9f86d081884c7d65-000004a1" "" {"nightly", "1700000000000", "{...}"} 0 "" 0 0 0
--   Two scheduled tasks became ready. The session was dead, and its one task is back. The entry "nightly" is due: the caller sends
--   fire.lua for it. Then it sends maintain again at once, as another session may be dead. If that reply has 0 at [2] and the same
--   [3], the next call is at 1700000004000.
--
-- Failure                              Consequence                             The caller sends next
-- the arguments are not as above       an error that begins with ERR;          correct arguments
--                                      nothing is written
-- a right is missing, or a key with a  NOPERM or WRONGTYPE and the name of     the same, later, when somebody has mended that
-- fixed name has another type          the command or key; nothing is
--                                      written. A call that finds nothing due
--                                      answers where it does not need them
-- a key of one task, group, tag or     its value is removed; a task that       as after any call
-- session (`info:<id>`) has another    waits goes to the dead letters
-- type                                 (lib/foreign_key.lua)
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
-- more. Nothing is counted twice: a crash is counted in the step that removes the lease. Two workers may get the same entries and
-- messages: fire.lua makes the tasks of a slot once, as it compares the entry's time and their ids follow from the slot; the queue
-- that receives a message notes its number in `received:<queue>`, and takes it once.
-- No task dies here of its crashes: the worker that leases it next compares their number with its policy.
--
-- A line `-- require: ...` below names modules of lib, which the build puts there (CONTRIBUTING.md).
-- require: upkeep, quiet

-- Most calls find nothing due, and end here after a few commands.
do
  local reply = quiet(KEYS[1], ARGV[1], ARGV[2])
  if reply then return reply end
end
-- require: base, wake_one
-- Lua makes the functions of a module cheaper where the names that they use belong to an enclosing function (CONTRIBUTING.md): so
-- what follows stands in two.
return (function()
-- require: foreign_key, budget, sequence, requeue_front, retention, event, history
return (function()
-- require: whole, first_time, forget_past, amnesty, promote, trim, trim_order, trim_tags, cron_due

local function fault_of(P)
-- require: expect
  return unfit(P)
end

-- Modules that most calls do not need stand in functions, which make them at their first use: limits() those for limits, and
-- endings(), which need these, those that end tasks or bring tasks back, and those for jumps of the clock.
local limit_steps
local function limits()
  if limit_steps then return limit_steps end
-- require: limit_state, wake_all, unpark_groups, renew_limits
  local end_steps
  local function endings()
    if end_steps then return end_steps end
-- require: death, reap, expire, fan_out, set_back
    end_steps = {dies = dies, expire_overdue = expire_overdue, fan_some = fan_some, reap_session = reap_session,
      set_back = set_back}
    return end_steps
  end
  limit_steps = {endings = endings, renew_limits = renew_limits, unpark_groups = unpark_groups, wake_all = wake_all}
  return limit_steps
end
local function endings() return limits().endings() end

-- The session that expired first: its tasks go back to the front. At most one crash of each is counted: none if it had not begun. May
-- meet a task without an envelope, whose lease just goes, or one that was cancelled, which ends. Twice: the lease is gone with the
-- first call, so that no task goes back twice. Returns {count, session, more, due, spared}.
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

-- Children learn how their parents ended, a page of them in each call. They may become ready, dead or cancelled; for those in other
-- queues messages are put into `outbox`. Twice: a child hears of an edge once (lib/dependency_edges.lua). Returns {more, left}.
local function tell_ends(P, now, max)
  if call('EXISTS', P .. 'fanout', P .. 'fanout_far') == 0 then return {left = 0} end
  local more = endings().fan_some(P, now, budget.room(10, 40, max), budget.room(32, 16, max))
  return {more = more, left = call('LLEN', P .. 'fanout')}
end

-- When scheduled tasks and deadlines are due next; scheduled ones also where the steps before have added them. Redis makes whole
-- numbers of the reply's: a score has places behind its point (lib/ties.lua). had_deadlines: there were deadlines when
-- expire_tasks looked.
local function next_times(P, now, had_deadlines)
  local first = first_time(P, 'scheduled')
  local deadline = had_deadlines and first_time(P, 'deadlines') or nil
  return {more = first and first < now + 1, due = first and math.min(first, deadline or first) or deadline}
end

-- A page of the threads in `rousing` is woken, and groups with parked tasks are looked at. Twice: a thread that was woken has left
-- `rousing`, and an unparked task has left `parked`. Returns {more, due}.
local function unpark(P, now, max)
  if call('EXISTS', P .. 'opening', P .. 'reopening', P .. 'rousing') == 0 then return {} end
  local is_left = limits().wake_all(P, true)
  local groups = limits().unpark_groups(P, now, max)
  return {more = is_left or groups.more, due = groups.due}
end

-- A pause for a time ends, of the queue (`hold`) and of groups (`holds`), and what limits count is counted again. A pause without
-- an end (`paused`) stays. Returns {more, due, shut}; shut: no task starts now.
local function renew(P, now, gate, max)
  return limits().renew_limits(P, now, gate, max)
end

-- Clients that wait for a task have a time until which they wait.
local function forget_waiters(P, now, max)
  local more = forget_past(P, 'waiters', now, max)
  if call('EXISTS', P .. 'waiters', P .. 'linked') == 0 then call('HDEL', P .. 'settings', 'waiters') end
  return {more = more}
end

-- unsent: the last time when a notice could not be sent. Returns whether that is less than an hour ago.
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
local function take(step)
  more = step.more or more
  if step.due then next_due = math.min(next_due or step.due, step.due) end
  return step
end

-- The steps. None of them may fail: what is wrong with an envelope or an edge is found before the step writes, and becomes an outcome
-- of that one task. A step that leaves work to do says so, and the next call goes on with it.

-- Finds until when sessions are spared whose heartbeats could not come. Where Redis's clock has jumped back, times are moved by as
-- much. Twice: the first call has noted that it was here.
local amnesty = take(renew_amnesty(P, now, life and math.min(life, LATEST / 2), settings, endings))
-- Scheduled tasks that are due become ready; a malformed one dies. Twice: they have left `scheduled`.
local promoted = take(promote_due(P, now, max, endings))
local reaped = take(reap_dead(P, now, settings.gate, max, amnesty))
local deadlines = take(expire_tasks(P, now, max))
local ends = take(tell_ends(P, now, max))
take(next_times(P, now, deadlines.found))
-- Records of ended tasks that are too old or too many go; after tell_ends, as tasks end there, too. A record that goes may leave
-- children to tell. Twice: the second call finds those that are then too many.
local trimmed = trim_ended(P, now, settings, max, take)
if trimmed > 0 then take({more = call('LLEN', P .. 'fanout') > ends.left}) end
-- Groups without ready or parked tasks leave `groups`; where nothing is ready or parked, scores begin again, and `large` may go. One
-- tag, chosen at random, loses tasks that are gone. Twice: they are gone.
take(trim_order(P, settings.large, max))
trim_tag(P, max)
if settings.waiters then take(forget_waiters(P, now, max)) end
take(unpark(P, now, max))
local renewed = settings.gate and take(renew(P, now, settings.gate, max)) or {}
-- Recurring entries are only found here. An entry stays due until fire.lua has made its task.
local cron = take(due_entries(P, now))

local lists, messages = call('EXISTS', P .. 'outbox', P .. 'unread'), 0
if lists > 0 then messages = call('LLEN', P .. 'outbox') end
-- Where nothing depends on the clock any more, nobody need know when the queue was last maintained.
if (amnesty.may_drop_upkeep or settings.upkeep and promoted.count > 0) and not has_times(P, settings.hold) then
  call('HDEL', P .. 'settings', 'upkeep')
end
-- Each call that goes this far wakes a thread where a task is ready: an earlier wake-up may have been lost with the thread that had it.
-- Where the queue is at its concurrency that thread finds nothing to lease, and waits again.
if not settings.paused and not renewed.shut and call('EXISTS', P .. 'ready') == 1 then take({more = wake_one(P)}) end
return {now, more and 1 or 0, next_due or -1, promoted.count, reaped.count, trimmed, reaped.session, settings.policy or '',
  cron.entries, messages, settings.result_max or '', is_unsent(P, now, settings.unsent) and 1 or 0, reaped.spared or 0,
  lists > (messages > 0 and 1 or 0) and 1 or 0}
end)()
end)()
