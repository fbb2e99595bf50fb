#!lua flags=allow-oom
-- maintain: the upkeep of a queue. A call does a part of the work that is due, and says whether more is due. Of some work, which is
-- rare or large, it only says that it is due: the caller sends the script that does it. maintain runs also when Redis is out of memory
-- (allow-oom), since it frees memory: records go, and what it adds is small and bounded.
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     <max> [<life>]
--            <max>   how many tasks the call touches at most in each step, a whole number from 1. All steps also share a budget
--                    (lib/budget.lua). It allows about 130 scheduled tasks or 400 records, if nothing else is due. A step after
--                    the budget is used up still touches a few tasks, 1 to 25 depending on the step, but never more than <max>.
--                    In a queue with large envelopes <max> is 8 at most
--            <life>  how long a session lives without a heartbeat, in ms, a whole number from 1, as the caller has it configured;
--                    absent: unknown
-- reply    all are numbers but [8], [9] and [11]. Behind each arrow: what a worker's scheduler does with it; another caller may leave
--          that to the workers, as any call returns what is still due
--          [1] now, in ms since the epoch -> it knows how far Redis's clock is ahead of its own
--          [2] 1 when this script may have more to do at once, else 0 -> it sends the same call again at once
--          [3] when the next work is due, in ms since the epoch, whole. What [5], [7], [9] and [10] report as due now is not counted, nor
--              what may wait for the next call, as clients in `waiters` that have gone; -1: nothing is known -> it sends the next
--              call then; earlier when a notice `due` says so, and one session's life after this call at the latest
--          [4] how many scheduled tasks became ready -> it logs the number
--          [5] 1 when a session is dead, else 0 -> it sends reap.lua, until that says 0 at [3], and then the next call at once
--          [6] how many records of ended tasks left their sets, and how many came to the end of a retention of their own; most are
--              gone, those that somebody may still read are in `retained` -> nothing
--          [7] 1 when tasks are to be told how their parents ended (`fanout`, `fanout_far`), else 0 -> it sends fan.lua, until that
--              says 0 at [1]
--          [8] the queue's policy (JSON), or "" -> its threads decide on retries and on tasks that crashed by it
--          [9] recurring entries that are due, at most @CRON_DUE_MAX@: {name, time in ms, first line of its definition, ...}
--              -> it sends fire.lua for each that it understands. It sends the next call after a second if that failed, or if the
--              list was full and it fired none; at once if the list was full and it fired one
--          [10] how many messages to other queues wait in `outbox` -> it carries them (outbox.lua)
--          [11] the queue's setting result_max, or "" -> its threads refuse larger results
--          [12] 1 when a notice of this queue could not be sent in the last hour, else 0 -> it sends a call every second, as it may
--               miss notices
--          [13] until when sessions are spared that expired while nobody maintained the queue (lib/upkeep.lua), in ms since the
--               epoch; 0: none is spared -> it logs when that begins
--          [14] 1 when there are messages that no carrier understood (`unread`), else 0 -> it has them put back into `outbox`, once
--               in its life
--          [15] the queue's setting payload_max, or "" -> its threads refuse chained tasks with longer payloads
--
-- Example: KEYS reeve:{mail}:  ARGV 200 15000
--   reply  1700000000000 0 1700000004000 2 1 0 0 "" {"nightly", "1700000000000", "{...}"} 0 "" 0 0 0 ""
--   Two scheduled tasks became ready. The entry "nightly" is due: the caller sends fire.lua for it. A session is dead: the caller
--   sends reap.lua, and then maintain again. If that reply has 0 at [2] and [5] and the same [3], the next call is at 1700000004000.
--
-- Failure                              Consequence                             The caller sends next
-- the arguments are not as above       an error that begins with ERR;          correct arguments
--                                      nothing is written
-- a right is missing, or a key with a  NOPERM or WRONGTYPE and the name of     the same, later, when somebody has mended that
-- fixed name has another type          the command or key; nothing is
--                                      written. If nothing is due, the call
--                                      succeeds all the same, unless it
--                                      needs that right or key
-- the key patterns of the user's       the steps before that command are       the same, later, when somebody has mended that
-- access list have <prefix>tasks, but  done; Redis refuses the command
-- lack another key                     (lib/allowed.lua)
-- Redis does not know the script       NOSCRIPT; nothing is done               SCRIPT LOAD, then the same
-- a key of one task, group, tag or     its value is removed; a task that       as after any call
-- session (`info:<id>`) has another    waits goes to the dead letters
-- type                                 (lib/foreign_key.lua)
-- Redis takes no writes: READONLY,     Redis's error; nothing is written       the same, to the new master or after a pause
-- MISCONF, and the like
-- the reply is lost                    all steps were done, or none            the same
-- the caller dies, or does not act on  the work stays where it is: dead        any worker's next call returns it again
-- the reply                            sessions, entries in `cron:due`,
--                                      steps in `fanout`, messages in
--                                      `outbox`
-- nobody calls                         scheduled tasks stay; dead sessions     a client may call, too (reeve_maintain);
--                                      keep their tasks                        sessions that expired meanwhile are spared
--                                                                              for one life
--
-- Safe to send twice, and by several workers at once: each step looks for what is due now, and what a call has done is not due any
-- more. What the reply says to be due (a dead session, a fan-out, an entry, messages) several workers may be told, and act on: reap.lua
-- dissolves a lease once; fan.lua tells a child of an edge once; fire.lua makes the tasks of a slot once, as it compares the entry's
-- time and their ids follow from the slot; the queue that receives a message notes its number in `received:<queue>`, and takes it
-- once.
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
-- require: whole, first_time, forget_past, amnesty, dead_session, promote, trim, trim_order, trim_tags, cron_due, drop_held

local function fault_of(P)
-- require: expect
  return unfit(P)
end

-- Modules that most calls do not need stand in functions, which make them at their first use. limits(): those for limits. endings():
-- those that end tasks, or move times after a jump of the clock; it stands in limits(), as its modules use those of limits().
local limit_steps
local function limits()
  if limit_steps then return limit_steps end
-- require: limit_state, wake_rest, unpark_groups, renew_limits
  local end_steps
  local function endings()
    if end_steps then return end_steps end
-- require: death, expire, set_back
    end_steps = {dies = dies, expire_overdue = expire_overdue, set_back = set_back}
    return end_steps
  end
  limit_steps = {endings = endings, renew_limits = renew_limits, unpark_groups = unpark_groups, wake_rest = wake_rest}
  return limit_steps
end
local function endings() return limits().endings() end

-- "Twice:" in a comment says why it does no harm to do the step again.
-- Tasks past their deadlines die. Twice: a dead task has no deadline. Returns {more, found}.
local function expire_tasks(P, now, max)
  local head = first_time(P, 'deadlines')
  if not head or head > now then return {found = head ~= nil} end
  return {more = endings().expire_overdue(P, now, max).more, found = true}
end

-- When scheduled tasks and deadlines are due next. Called after the steps that may add scheduled tasks. Scores of `scheduled` have a
-- fraction (lib/ties.lua), and Redis truncates a number in a reply to the ms: so a task counts as due in the whole of its ms.
-- had_deadlines: there were deadlines when expire_tasks looked; a later step adds none, or it sends a notice `due`.
local function next_times(P, now, had_deadlines)
  local first = first_time(P, 'scheduled')
  local deadline = had_deadlines and first_time(P, 'deadlines') or nil
  return {more = first and first < now + 1, due = first and math.min(first, deadline or first) or deadline}
end

-- A page of the threads in `wake_later` is woken, and groups with parked tasks are looked at. Twice: a thread that was woken has left
-- `wake_later`, and an unparked task has left `parked`. Returns {more, due}.
local function unpark(P, now, max)
  if call('EXISTS', P .. 'limit_due', P .. 'limit_dirty', P .. 'wake_later') == 0 then return {} end
  local is_left = limits().wake_rest(P)
  local groups = limits().unpark_groups(P, now, max)
  return {more = is_left or groups.more, due = groups.due}
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
  -- A step of this call may have failed to send one, too.
  unsent = tonumber(call('HGET', P .. 'settings', 'unsent'))
  if unsent and math.abs(now - unsent) < 3600000 then return true end
  call('HDEL', P .. 'settings', 'unsent')
  return false
end

local function settings_of(P)
  local names, settings = {'completed_age', 'completed_count', 'completed_bytes', 'waiters', 'paused', 'large', 'in_force', 'policy',
    'paused_until', 'result_max', 'dead_age', 'dead_count', 'unsent', 'upkeep', 'back', 'payload_max'}, {}
  for i, value in ipairs(call('HMGET', P .. 'settings', unpack(names))) do settings[names[i]] = value end
  return settings
end

-- Arguments, rights and the types of keys. Nothing is written before all of them are known to be right.
local P, max, life = KEYS[1], whole(ARGV[1], 1, INT64), ARGV[2] and whole(ARGV[2], 1, INT64)
if not max or ARGV[2] and not life then
  return redis.error_reply('ERR @NAME@: it takes the most tasks to touch, and the life of a session in ms or nothing')
end
local fault = fault_of(P)
if fault then return fault end

local now, settings = clock(), settings_of(P)
-- Steps read the headers of envelopes, and so few of them where they may be large.
max = math.min(max, settings.large and 8 or @CALL_MAX@)
know_in_force(P, settings.in_force)

-- Each step returns a table. more: it has left work to do at once; due: when it has work next, in ms. note adds that to the reply's.
local more, next_due = false, nil
local function note(step)
  more = step.more or more
  if step.due then next_due = math.min(next_due or step.due, step.due) end
  return step
end

-- The steps. None of them may fail: what is wrong with an envelope or an edge is found before the step writes, and becomes an outcome
-- of that one task. A step that leaves work to do says so, and the next call goes on with it.

-- settings.upkeep, the time when somebody last maintained the queue, becomes now; heartbeats renew it, too. From it follows which
-- sessions are spared. Where Redis's clock has jumped back, times are moved by as much. Twice: the first call has noted that it was
-- here.
local amnesty = note(renew_amnesty(P, now, life and math.min(life, LATEST / 2), settings, endings))
-- Scheduled tasks that are due become ready; a malformed one dies. Twice: they have left `scheduled`.
local promoted = note(promote_due(P, now, max, endings, settings.large))
-- Sessions are only looked at: reap.lua brings the tasks of a dead one back.
local sessions = note(look_at_sessions(P, now, amnesty.since, amnesty.ends))
local deadlines = note(expire_tasks(P, now, max))
note(next_times(P, now, deadlines.found))
-- Records of ended tasks that are too old or too many go. Twice: the second call finds those that are then too many.
local trimmed = trim_ended(P, now, settings, max, note)
-- The same of tasks that say themselves how long their records are kept. Twice: they have left `keep_until`.
trimmed = trimmed + note(drop_held(P, now, max)).count
-- Groups without ready or parked tasks leave `groups`; where nothing is ready or parked, scores begin again, and `large` may go. One
-- tag, chosen at random, loses tasks that are gone. Twice: they are gone.
note(trim_order(P, settings.large, settings.payload_max, max))
trim_tag(P, max)
if settings.waiters then note(forget_waiters(P, now, max)) end
note(unpark(P, now, max))
-- A pause for a time ends, of the queue (`paused_until`) and of groups (`paused_groups`), and what limits count is counted again. A
-- pause without an end (`paused`) stays. shut: no task starts now. Twice: what has ended is over.
local renewed = settings.in_force and note(limits().renew_limits(P, now, settings.in_force, max)) or {}
-- Recurring entries are only found here. An entry stays due until fire.lua has made its task.
local cron = note(due_entries(P, now))

-- For the reply. Ends are to be told also where tasks ended in this call.
local has_ends = call('EXISTS', P .. 'fanout', P .. 'fanout_far') > 0
local messages, has_unread = 0, false
if call('EXISTS', P .. 'outbox', P .. 'unread') > 0 then
  messages = call('LLEN', P .. 'outbox')
  has_unread = call('EXISTS', P .. 'unread') == 1
end
-- The field `upkeep` is needed only while something in the queue has a time, and is removed when nothing has. The check is made when
-- this call renewed the field, may have ended a pause, or made a scheduled task ready. If the last scheduled task was malformed, a
-- later call makes it.
if (amnesty.may_drop_upkeep or settings.upkeep and promoted.count > 0) and not has_times(P, settings.paused_until) then
  call('HDEL', P .. 'settings', 'upkeep')
end
-- Each call that goes this far wakes a thread where a task is ready: an earlier wake-up may have been lost with the thread that had it.
-- Where the queue is at its concurrency that thread finds nothing to lease, and waits again.
if not settings.paused and not renewed.shut and call('EXISTS', P .. 'ready') == 1 then note({more = wake_one(P)}) end
return {now, more and 1 or 0, next_due or -1, promoted.count, sessions.is_dead and 1 or 0, trimmed, has_ends and 1 or 0,
  settings.policy or '', cron.entries, messages, settings.result_max or '', is_unsent(P, now, settings.unsent) and 1 or 0,
  sessions.spared, has_unread and 1 or 0, settings.payload_max or ''}
end)()
end)()
