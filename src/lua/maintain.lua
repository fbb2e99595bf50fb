#!lua flags=allow-oom
-- maintain: does the regular work for a queue that is due. One call does a part of it, and reports whether more is due.
-- Work that is rare or large is left to other scripts: maintain only reports that it is due, and the caller sends those
-- scripts. maintain runs even if Redis is out of memory (allow-oom), because it frees memory: it removes records, and
-- what it adds is small and bounded.
--
-- Terms (more are in docs/glossary.md):
--   record        what is kept of a task that has ended: its envelope in `tasks`, its id in `completed`, `cancelled` or
--                 `dead`, and its other keys
--   session       the registration of a worker in a queue. It expires without heartbeats. An expired session is dead,
--                 unless it is spared for a time, because nobody maintained the queue when it expired (lib/upkeep.lua)
--   scheduler     the thread of a worker that calls this script
--   notice `due`  a message on the channel <namespace>:control that a queue has work at a time (lib/base.lua)
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     <max> [<life>]
--            <max>   the maximum number of tasks, groups or the like that each step changes, a whole number from 1;
--                    more than @CALL_MAX@ is @CALL_MAX@, and more than 8 is 8 in a queue with large envelopes. All
--                    steps share a budget as well (lib/budget.lua). It is enough for about 130 scheduled tasks or 400
--                    records, if nothing else is due. When it is used up, each further step still does a little, 1 to
--                    25 tasks
--            <life>  how long a session lives without a heartbeat, in ms, a whole number from 1, as configured at the
--                    caller; absent: not known
-- reply    a list of numbers; only [8], [9], [11] and [15] are something else. Behind the arrow: what the scheduler
--          does. Another caller may leave that to the workers, because each call reports again what is still due
--          [1]  now, in ms since the epoch -> computes the difference between Redis's clock and its own
--          [2]  1 if this script may have more to do now, else 0 -> sends the same call again at once
--          [3]  when the next work is due, in ms since the epoch; -1: nothing is known. It does not count work that
--               [5], [7], [9] and [10] report as due now, nor work that can wait for any later call, such as the
--               removal of clients from `waiters` -> sends the next call at this time, or earlier if it gets a notice
--               `due`; at the latest after one session's life, or after a second while it is not subscribed to notices
--          [4]  how many scheduled tasks became ready -> logs the number
--          [5]  1 if a session is dead, else 0 -> sends reap.lua until that returns 0 at [3], then the next call
--          [6]  how many records were removed from their sets, plus how many own retentions (the option `keep`) ended.
--               Records that other tasks may still read stay, in `retained` -> nothing
--          [7]  1 if children have to be notified of the end of their parents (`fanout`, `fanout_far`), else 0 -> sends
--               fan.lua until that returns 0 at [1]
--          [8]  the policy of the queue (JSON), or "" -> uses it for retries and for tasks that crashed
--          [9]  recurring entries that are due, at most @CRON_DUE_MAX@: {name, time in ms, first line of its
--               definition, ...} -> sends fire.lua for each entry that it understands. If the list is full, more
--               entries may be due: it sends the next call at once if it fired an entry, else after a second. If
--               fire.lua fails: after a second
--          [10] how many messages to other queues wait in `outbox` -> delivers them (outbox.lua)
--          [11] the setting result_max, or "" -> refuses larger results
--          [12] 1 if a notice of this queue could not be published in the last hour, else 0 -> sends a call every
--               second, because notices may not reach it
--          [13] until when sessions are spared, in ms since the epoch; 0: none is spared -> logs the begin
--          [14] 1 if there are messages that no carrier understood (`unread`), else 0 -> lets outbox.lua return them to
--               `outbox`, once in the life of the worker, and tries to deliver them
--          [15] the setting payload_max, or "" -> refuses chained tasks with larger payloads
--
-- Example: KEYS reeve:{mail}:  ARGV 200 15000
--   reply  1700000000000 0 1700000004000 2 1 0 0 "" {"nightly", "1700000000000", "{...}"} 0 "" 0 0 0 ""
--   Two scheduled tasks became ready. A session is dead: the scheduler sends reap.lua. The entry "nightly" is due: it
--   sends fire.lua. Then it sends maintain again. If that returns 0 at [2] and [5] and the same time at [3], the next
--   call is at 1700000004000.
--
-- Failure                              Consequence                             The caller sends next
-- the arguments are not as above       an error that begins with ERR;          correct arguments
--                                      nothing is written
-- a right is missing, or a key with a  NOPERM or WRONGTYPE and the name of     the same, once that is mended
-- fixed name has a wrong type          the command or key; nothing is
--                                      written. If nothing is due, the call
--                                      succeeds, unless it needs that right
--                                      or key
-- the user has the rights to the key   the steps before that command are       the same, once that is mended
-- <prefix>tasks, but not to another    done; Redis refuses the command
-- key, which a step needs              (lib/allowed.lua)
-- Redis does not know the script       NOSCRIPT; nothing is done               SCRIPT LOAD, then the same
-- the key of one task, group, tag or   the value is removed                    as after any call
-- session has a wrong type             (lib/foreign_key.lua). If the key is
--                                      info:<id> or parents:<id> of a
--                                      waiting task, the task dies
-- Redis takes no writes: READONLY,     Redis's error; nothing is written       the same, to the new master or
-- MISCONF, and the like                                                        after a pause
-- the reply is lost                    all steps were done, or none            the same
-- the caller dies, or does not act on  the work stays where it is: dead        any worker's next call returns it again
-- the reply                            sessions, entries in `cron:due`,
--                                      steps in `fanout`, messages in
--                                      `outbox`
-- nobody calls                         scheduled tasks stay scheduled; dead    a client may call, too
--                                      sessions keep their tasks               (reeve_maintain); sessions that expired
--                                                                              meanwhile are spared for one life
--
-- Safe to send twice, and by several workers at once: each step looks for work that is due now, and work that a call
-- has done is not due any more. Several workers may get a reply that reports the same session, fan-out, entry or
-- message as due, and act on it. That is safe, too:
--   reap.lua    returns a task once: the lease is deleted with it
--   fan.lua     notifies a child of an edge once: the edge has ended then
--   fire.lua    enqueues the tasks of a slot once: it compares the time of the entry, and the ids of the tasks are
--               derived from the slot
--   messages    take effect once: the receiving queue records their numbers in `received:<queue>`
--
-- A line `-- require: ...` below names modules of lib, which the build inserts there (docs/scripts.md).
-- require: upkeep, quiet

-- Most calls find that nothing is due, and end here after a few commands.
do
  local reply = quiet(KEYS[1], ARGV[1], ARGV[2])
  if reply then return reply end
end
-- require: base, wake_one
-- The functions of a module cost less if the names that they use belong to an enclosing function (docs/scripts.md). So
-- the code that follows is in two nested functions.
return (function()
-- require: foreign_key, budget, sequence, requeue_front, retention, event, history
return (function()
-- require: whole, first_time, forget_past, amnesty, dead_session, promote, trim, trim_order, trim_tags, cron_due
-- require: drop_held

local function fault_of(P)
-- require: expect
  return unfit(P)
end

-- Modules that most calls do not need are in functions, which create them when they are called first. limits() returns
-- the steps for limits. endings() returns the steps that end tasks, or move times after Redis's clock was set back. Its
-- modules use those of limits(), so it is defined inside of limits().
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

-- In the comments of the steps, "Twice:" gives the reason why it does no harm to do the step again.
--
-- Tasks whose deadlines have passed die. Twice: a dead task has no deadline. Returns {more, found}; found: there are
-- deadlines.
local function expire_tasks(P, now, max)
  local head = first_time(P, 'deadlines')
  if not head or head > now then return {found = head ~= nil} end
  return {more = endings().expire_overdue(P, now, max).more, found = true}
end

-- When the next scheduled task or deadline is due. Only reads. It is called after the steps that may add scheduled
-- tasks. had_deadlines: expire_tasks found deadlines; a later step adds none, or it publishes a notice `due`. Scores of
-- `scheduled` have a fraction (lib/ties.lua), which Redis removes from numbers in a reply. So a task is due from the
-- begin of its ms on, even if its score is later in that ms. Returns {more, due}.
local function next_times(P, now, had_deadlines)
  local first = first_time(P, 'scheduled')
  local deadline = had_deadlines and first_time(P, 'deadlines') or nil
  return {more = first and first < now + 1, due = first and min(first, deadline or first) or deadline}
end

-- Wakes some of the threads in `wake_later`, and unparks tasks of groups that may start more tasks. Twice: a thread
-- that was woken is not in `wake_later` any more, and an unparked task is not in `parked` any more. Returns {more,
-- due}.
local function unpark(P, now, max)
  if call('EXISTS', P .. 'limit_due', P .. 'limit_dirty', P .. 'wake_later') == 0 then return {} end
  local is_left = limits().wake_rest(P)
  local groups = limits().unpark_groups(P, now, max)
  return {more = is_left or groups.more, due = groups.due}
end

-- Removes clients that wait for a task from `waiters` when their time is over, and the setting `waiters` if nobody
-- waits. Twice: they are not in the set any more. Returns {more}.
local function forget_waiters(P, now, max)
  local more = forget_past(P, 'waiters', now, max)
  if call('EXISTS', P .. 'waiters', P .. 'linked') == 0 then call('HDEL', P .. 'settings', 'waiters') end
  return {more = more}
end

-- unsent: when a notice could not be published, in ms, or false. Returns whether that is less than an hour ago; if it
-- is not, removes the field.
local function is_unsent(P, now, unsent)
  unsent = tonumber(unsent)
  if not unsent then return false end
  if math.abs(now - unsent) < 3600000 then return true end
  -- A step of this call may have failed to publish a notice.
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

-- Checks the arguments, the rights and the types of keys, before anything is written.
local P, max, life = KEYS[1], whole(ARGV[1], 1, INT64), ARGV[2] and whole(ARGV[2], 1, INT64)
if not max or ARGV[2] and not life then
  return redis.error_reply('ERR @NAME@: it takes the most tasks to touch, and the life of a session in ms or nothing')
end
local fault = fault_of(P)
if fault then return fault end

local now, settings = clock(), settings_of(P)
-- Steps read envelopes; if these may be large, a call reads only a few.
max = min(max, settings.large and 8 or @CALL_MAX@)
know_in_force(P, settings.in_force)

-- Each step returns a table. more: it left work that is due now; due: when it has work next, in ms; nil: not known.
-- note combines these values of all steps for the reply.
local more, next_due = false, nil
local function note(step)
  more = step.more or more
  if step.due then next_due = min(next_due or step.due, step.due) end
  return step
end

-- The steps. None of them fails because of bad data: if an envelope or an edge is malformed, the step detects that
-- before it writes, and ends that one task. A step that leaves work returns `more`, and the next call continues it.

-- Sets settings.upkeep, the time of the last maintenance, to now; heartbeats set it, too. The script derives from it
-- which sessions are spared (lib/upkeep.lua). If Redis's clock was set back, times are moved by the same amount
-- (lib/set_back.lua). Twice: the second call finds the time that the first one has set.
local amnesty = note(renew_amnesty(P, now, life and min(life, LATEST / 2), settings, endings))
-- Scheduled tasks that are due become ready; malformed ones die. Twice: they are not in `scheduled` any more.
local promoted = note(promote_due(P, now, max, endings, settings.large))
-- Looks for a dead session. Only reads: reap.lua returns its tasks to the queue.
local sessions = note(look_at_sessions(P, now, amnesty.since, amnesty.ends))
local deadlines = note(expire_tasks(P, now, max))
note(next_times(P, now, deadlines.found))
-- Removes records that are too old or too many. Twice: the second call removes only records that are too old or too
-- many by then.
local trimmed = trim_ended(P, now, settings, max, note)
-- Removes records of tasks with a retention of their own, when that has ended. Twice: they are not in `keep_until` any
-- more.
trimmed = trimmed + note(drop_held(P, now, max)).count
-- Removes groups without ready or parked tasks from `groups`. If no task is ready or parked, scores begin again; if
-- there is no task at all, the setting `large` is removed. trim_tag removes deleted tasks from the index of one tag,
-- chosen at random. Twice: they are removed already.
note(trim_order(P, settings.large, settings.payload_max, max))
trim_tag(P, max)
if settings.waiters then note(forget_waiters(P, now, max)) end
note(unpark(P, now, max))
-- Ends pauses for a time, of the queue (`paused_until`) and of groups (`paused_groups`), and recounts the tasks that
-- limits count. A pause without an end (`paused`) stays. renewed.shut: a pause for a time or the rate of the queue lets
-- no task start now. Twice: a pause that has ended is removed, and a second count gives the same number.
local renewed = settings.in_force and note(limits().renew_limits(P, now, settings.in_force, max)) or {}
-- Finds recurring entries that are due. Only reads, but removes an entry without a definition. An entry stays due until
-- fire.lua has enqueued its task.
local cron = note(due_entries(P, now))

-- The rest of the reply. It is read after the steps, because they may have ended parents, and added messages.
local has_ends = call('EXISTS', P .. 'fanout', P .. 'fanout_far') > 0
local messages, has_unread = 0, false
if call('EXISTS', P .. 'outbox', P .. 'unread') > 0 then
  messages = call('LLEN', P .. 'outbox')
  has_unread = call('EXISTS', P .. 'unread') == 1
end
-- The setting `upkeep` is needed only while the queue has sessions, or anything with a time. It is removed if there is
-- nothing of that kind any more. This is checked only if this call set `upkeep`, may have ended a pause, or made a
-- scheduled task ready. In other cases, for instance after the last scheduled task died, a later call checks it.
if (amnesty.may_drop_upkeep or settings.upkeep and promoted.count > 0) and not has_times(P, settings.paused_until) then
  call('HDEL', P .. 'settings', 'upkeep')
end
-- Wakes a thread if a task is ready: an earlier wake-up may have been lost with the thread that got it. If the queue is
-- at its concurrency, the thread finds no task that it may lease, and waits again.
if not settings.paused and not renewed.shut and call('EXISTS', P .. 'ready') == 1 then note({more = wake_one(P)}) end
return {now, more and 1 or 0, next_due or -1, promoted.count, sessions.is_dead and 1 or 0, trimmed, has_ends and 1 or 0,
  settings.policy or '', cron.entries, messages, settings.result_max or '', is_unsent(P, now, settings.unsent) and 1 or 0,
  sessions.spared, has_unread and 1 or 0, settings.payload_max or ''}
end)()
end)()
