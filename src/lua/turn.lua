#!lua flags=allow-oom
-- turn: a thread's whole turn in one call: settles the tasks that it has finished, then leases the tasks that it runs next.
-- It runs also when Redis is out of memory (allow-oom), since tasks that end free memory; what leases, retries and chained tasks
-- add is small and bounded.
--
-- The call, as a grammar; each word is one argument, and "*" repeats as often as there are things:
--   KEYS     prefix*           the prefixes of the L queues to lease from, in order; then those of queues that are only settled in
--   ARGV     thread want L mode, session*, group*
--     thread   the thread's name within its session. In the mode "several": for each of the `want` tasks the thread that it is
--              for, separated by blanks: "3 7 7". A thread is named a second time only when all of them were named once
--     want     how many tasks to lease at most; 0: only settle. More than @CALL_MAX@ counts as @CALL_MAX@. "several": 1 to @CALL_MAX@
--     L        how many of KEYS to lease from
--     mode     how the thread came here, and how it waits when it finds nothing
--              ""       it asks again later, or blocks on the list `wake` until a script puts a token there
--              "idle"   with one queue it waits in `idle` to be handed a task (lib/hand.lua); with several it does as with ""
--              "again"  as "idle", and the thread may stand in `idle` since an earlier call. If it was handed something
--                       meanwhile, it is leased nothing here
--              "woken"  as "idle", and the thread took a token from `wake`, which step 6 passes on
--              "several"  One thread calls for others of its session, too. The leased tasks are, in their order, those of the
--                       threads in ARGV[1]. Each lease has the name of its thread, which can call recover.lua by itself.
--                       A thread that is leased nothing waits: with one queue as with "idle", with several as with ""
--     session  for each of the L queues: the id of the session that leases there. begin_session.lua begins it
--     group    index session lease N id*N R record*R: what to settle for one session in one queue, of any of its threads; not what
--              a task's option `group` means. Several groups may name the same queue
--       index    of the queue in KEYS
--       lease    "<since ms> <thread>": an outcome counts only for a task that the session holds by exactly this lease. Needed by
--                a caller that sends outcomes again without recover.lua, as the worker's keeper does; "": by any lease
--       N id*    how many plain completions, at most @CALL_MAX@, and their ids: completed tasks that need none of the letters
--                below. They may have tags; results of theirs come as `results` or `result_block`
--       R        how many records follow; `results` or `result_block` counts as one
--       record   outcome id first second third, five arguments:
--                done    result, "1" if there is one, letters      completed. Letters: "i": it has an info:<id> or
--                        parents:<id>, "1": a unique key, "c": a checkpoint, "d": a deadline, "r": its runs are
--                        recorded, "t": it has a retention of its own (`keep`), "k": it runs at most once: it is completed before its handler starts, and keeps its
--                        unique key until once.lua is called
--                retry   delay in ms, kind, message                failed, tried again later
--                fail    "1" if an attempt failed, else "0" and the count of failures stays; kind, message      dead
--                chain   handle, options and rest as in enqueue.lua: a chained task, enqueued if the session holds `id` and no
--                        task has its own id; else nothing happens, and the reply does not tell. The next record must be
--                        `done` of `id`; that is not checked, and before another outcome the task is enqueued all the same
--                crash   how many crashes it may have, or 0; message, backtrace or "": the process died while the handler ran.
--                        The task goes back to the front, and dies with that many crashes. 0: it is not known that the task
--                        caused the crash
--                snooze  delay in ms (0: to the front now), "1" if its handler had begun, "2" if that snooze is counted, too, ""
--                cancel  "1" discarded, without a record, else ""; reason, ""     cancelled
--                The first record may instead be one of these, for results of completions that are plain otherwise:
--                "results" M result*M     of the last M plain completions
--                "result_block" M block         the same in one argument, for small results: for each "<id> <bytes>", a
--                                         newline and the bytes (lib/result_block.lua)
--
--   Example: thread 3 of session w-1 completes task A and asks for one more task of the queue q:
--     KEYS "reeve:{q}:"   ARGV "3" "1" "1" "idle"  "w-1"  "1" "w-1" "" "1" "A" "0"
--     reply, task B is leased:         {1, "B", "{"at":...", "1700000000000"}
--     reply, nothing is ready:         {1700000000000, {}, {}, {{"idle"}}}: block on hand:w-1:3
--     reply, A was not w-1's any more: {1700000000000, {"A"}, {}, {}, {1, "B", "{"at":..."}}
--     reply, w-1 is not there:         {1700000000000, {"A"}, {1}, {}}: it has ended, as it had leased A. Begin w-2, then the same
--                                      without A, by w-2
--
-- The reply:
--   [1] now in ms
--   [2] refused: ids that the session does not hold any more: "<id>" of group 1, "<n> <id>" of group n from 2 on, as two queues
--       may have tasks of the same id
--   [3] gone: the indexes of queues in which the session is not there: it has not begun, or not any more. The script looks at the
--       session only where it could lease: a task is ready, and the queue is neither paused nor at a limit. So sessions begin where
--       they are needed. From the first of these queues on nothing is leased, as the caller asks again in the same order
--   [4] a list of
--       {id, failures, crashes, letters}   for each leased task that has such data. letters: "c": it left a checkpoint; "a": it
--                   crashed before while it ran alone; the number of its snoozes, if they are counted; absent, if none applies
--       {"idle"}    a thread that is leased nothing is to block on its list hand:<session>:<thread>
--   [5...] for each queue with leased tasks: {index in KEYS, id, envelope, id, envelope, ...}
--   Short form, where [2] to [4] would be empty and at most one queue leases: the items of [5], and behind them now as text; or
--   {now} alone. In the short form [2] is a text or absent, in the long form it is a list
--
-- What may fail:
--   failure                         consequence                            what the caller sends next
--   malformed arguments             error ERR; nothing is done. One        the corrected call
--                                     exception: of a malformed
--                                     result_block, the results before the
--                                     fault are kept and no error is
--                                     returned
--   the session does not hold a     refused in [2]                         nothing: the task was settled before, or went back
--     task any more                                                          when its session was reaped or its lease ended
--   the session is not there        in [3]; nothing is leased there        begin_session.lua, with a new id if it can have
--                                                                            begun before; then this call without its groups,
--                                                                            and with `want` less what was leased
--   a right or a key's type is      error NOPERM or WRONGTYPE; earlier     as after a lost reply
--     wrong                           groups may be settled, tasks leased
--   NOSCRIPT; READONLY, MISCONF,    Redis's error; nothing is done         SCRIPT LOAD; to the master or later; the same call
--     MOVED
--   the reply is lost               none, a part or all of it is done      for each of the queues recover.lua; then regain.lua
--                                                                            for what this call was to settle and
--                                                                            recover.lua does not return; then this call,
--                                                                            with the outcomes of what both found held
--
-- Settling may be sent twice, leasing may not. An outcome counts only if the id can be removed from the session's hash
-- running:<session>, which works once; the second call is told that it is refused. HDEL of several ids returns only a count. If
-- some were missing, an id counts as removed where its task exists and is in no state. A task may have gone back to the queue
-- and have been leased by the same session between the two calls: `lease` tells which lease is meant.
-- To lease twice leases more tasks. So after a lost reply the thread calls recover.lua first: it takes the thread out of
-- `idle`, and returns the leases that have the thread's name. While the session is there, a task leaves its hash in three ways:
--   a turn settled it
--   a turn failed halfway: Redis refused a command after HDEL, and the task is in no state. regain.lua makes it the session's again
--   somebody ended the lease by hand, with expire.lua, fail.lua or forget.lua: a message `revoke` tells the worker (lib/revoke.lua),
--     and recover.lua shows no difference from a settlement. repair.lua does the same to a malformed lease, without a message
-- A lease that the thread does not know was made by the lost call. recover.lua also repeats what [4] reported of tasks.
-- Where a session that had begun is not there, reap.lua has ended it: whatever it held went back to the queue, nobody can tell what was
-- settled before, and the thread counts what it was about to settle as refused.
--
-- Who does the rest: reap.lua, which some worker calls when maintain.lua finds a dead session, brings its tasks back. A token in
-- `wake` is taken by a thread that blocks there with BLPOP and then calls turn with "woken"; a thread that begins to wait in
-- `idle` removes it. If that call fails, it may be sent with "woken" again. If it never comes, the token is lost, and the next
-- call of maintain.lua wakes a thread where a task is ready. An item in hand:<session>:<thread> is taken by that thread;
-- recover.lua, reaping and end_session.lua remove the list. The task in it is a lease like any other.
--
-- Two paths. To make a function costs Redis's Lua as much as a small command, and a script makes its functions anew at each
-- call. The common path covers plain completions and plain tasks, without limits, events and anybody who waits. The build
-- puts its steps in place: the script makes one function, `load_careful`. The careful path covers everything else, with some hundred
-- functions; `load_careful` makes them when they are first needed. A step of the common path does its work, or changes nothing and
-- says so; then the careful path does it. The one exception is take_completed, which may remove a part of its ids: the careful
-- path is told how many.
-- A task is in the same state after either path. How it is stored may differ: results stand in a block or in a field each,
-- tasks leave a segment or stand by themselves, ended tasks are trimmed at once or some calls later, and tags of tasks that
-- are not kept are removed here or by maintain.lua. No test compares the paths command by command. ct_model sends random calls
-- through both, and compares what they leave with one model, which does not know the paths.

-- require: shortcuts, turn_arguments, turn_settings, turn_settle, turn_lease, turn_wait

local given, prefixes = ARGV, KEYS
local final = #given
local want, want_text, queues, mode, fault = read_counts(given, final, prefixes)
if fault then return redis.error_reply('ERR turn: ' .. fault) end
local thread = given[1]
local first_group = 5 + queues
local now = read_clock()
-- By place among the tasks to lease: the thread that each is for; nil: all are for one thread. dealt: how many of them are leased.
local names, dealt = nil, 0
if mode == 'several' then
  names = names_of_several(thread, want)
  thread = names[1]
  if #names ~= want or want == 0 then return redis.error_reply('ERR turn: ARGV[1] does not name `want` threads') end
end

-- what: "settling" or "leasing": makes the functions of the careful path for that, and returns them; "wake": wakes one thread of
-- the queue P. It uses no local variable of the script: each would cost at every call. Names in capitals, as IN_FORCE, are no
-- variables: the build writes their numbers.
local function load_careful(what, P)
-- require: wake_one
  if what == 'wake' then return wake_one(P) end
-- require: base
  -- In a function of its own, in which the names that base defines are cheaper: see CONTRIBUTING.md.
  return (function()
-- require: foreign_key, limit_state, breaker, schedule, allowed, put_aside
    if what == 'leasing' then
-- require: lease
      return lease
    end
-- require: settle, settle_records
    return {rights_fault = settle_rights_fault, check = check_records, completions = settle_completions, records = settle_records,
      trim = trim_completed}
  end)()
end
-- The results of `load_careful`, once they are needed.
local settling, leasing

-- 1. Check the form of all groups before anything is written.
local at = first_group
local is_one = is_one_completion(given, final, prefixes, at)
if is_one then at = at + 6 end
while at <= final and not fault do
  local records
  at, records, fault = check_group(given, final, prefixes, at)
  if records > 0 then
    settling = settling or load_careful('settling')
    at, fault = settling.check(at, records)
  end
end
if fault or at ~= final + 1 then return redis.error_reply('ERR turn: ' .. (fault or 'arguments are missing')) end

-- 2. Settle each group. refused, extras: [2] and [4] of the reply; settings: index of a queue -> its settings; session_known: index
-- -> a session that is known to be there, as nothing that it settled was refused; freed: indexes of queues with limits, where
-- another task may start now; refused_before: how many ids were refused in the groups before.
-- {false} is a table with room for its first element, which costs less than one that grows.
local refused, extras, settings, session_known, freed = {}, {}, {false}, {false}, false
local group, refused_before = 0, 0
at = first_group
while at <= final do
  group = group + 1
  local session, lease = given[at + 1], given[at + 2]
  local index, first, count, results, is_block, results_at, records_at, records = read_group(given, at)
  at = records_at + 5 * records
  local P = prefixes[index]
  local running = P .. 'running:' .. session
  local s = read_settings(P)
  settings[index] = s
  if s[WAITERS] or s[IN_FORCE] then
    settling = settling or load_careful('settling')
    local rights_fault = settling.rights_fault(P)
    if rights_fault then return redis.error_reply(rights_fault) end
  end
  if count > 0 then
    local hit = take_completed(given, running, lease, first, count, s, results)
    local completed, is_kept = count, false
    if hit == count then
      is_kept = keep_completed(P, given, first, count, results, is_block, results_at, s, now)
    else
      settling = settling or load_careful('settling')
      completed = settling.completions(P, running, lease, first, count, hit, now, s, refused, results, is_block, results_at)
    end
    if completed > 0 then
      local is_over = count_completed(P, completed, is_kept, s)
      if is_over then
        settling = settling or load_careful('settling')
        settling.trim(P, s, 2 * count + 500, now)
      end
    end
  end
  -- Records were checked: `settling` is there.
  if records > 0 then settling.records(P, running, lease, records_at, records, now, s, refused) end
  -- "e" alone: events are on, which keep no task waiting.
  if s[IN_FORCE] and s[IN_FORCE] ~= 'e' then
    freed = freed or {}
    freed[index] = true
  end
  -- A record "chain" proves nothing: it is not refused.
  if #refused == refused_before and (count > 0 or records > 0 and given[at - 5] ~= 'chain') then session_known[index] = session end
  if group > 1 then
    for i = refused_before + 1, #refused do refused[i] = format('%d ', group) .. refused[i] end
  end
  refused_before = #refused
end

-- 3. A thread that may stand in `idle` since an earlier call leaves it. If another script took it from there first, an item is in its
-- list: then it leases nothing here, and {"idle"} sends it to that list, where its BLPOP returns at once.
if mode == 'again' and queues == 1 then
  local is_handed = leave_idle(prefixes[1], given[5] .. ':' .. thread)
  if is_handed then want, extras[1] = 0, {'idle'} end
end

-- 4. Lease from each queue in turn, until there are as many as are wanted. lists: from how many queues tasks were leased;
-- leased_first, leased_others: the lists of the reply for the first of these queues, and for the others; gone: indexes of queues
-- in which the session is not there, from which on nothing is leased; shut: index -> a limit lets no more start; unasked: the first queue that was not asked, as
-- there were enough.
local lists, leased_first, leased_others, gone, shut, unasked = 0, false, false, false, false, nil
for index = 1, want > 0 and queues or 0 do
  local P, session = prefixes[index], given[4 + index]
  local s = settings_to_lease(P, settings[index], queues)
  settings[index] = s
  local ids
  if s and not s[PAUSED] then ids = head_of(P, want, want_text, s) end
  -- Something is ready, or (false) the careful path looks.
  if ids == false or ids and ids[1] then
    local leased, taken, more, failure
    if ids and not gone then
      leased, taken, more, failure = lease_plain(P, index, P .. 'running:' .. session, ids, want, want_text, now, thread,
        session_known[index] == session, names, dealt)
    end
    if failure then return failure end
    if leased then
      -- Whoever finds more than it takes wakes the next thread, unless a token stands there.
      if more and call('LLEN', P .. 'wake') == 0 then load_careful('wake', P) end
    else
      leasing = leasing or load_careful('leasing')
      local is_shut
      leased, is_shut = leasing(P, {index = index, session = session, want = want, thread = thread, names = names, dealt = dealt,
        now = tonumber(now), rules = s, extras = extras, has_company = lists > 0, session_stands = session_known[index] == session,
        looks = gone})
      taken = leased and (#leased - 1) / 2 or 0
      if is_shut then
        shut = shut or {}
        shut[index] = true
      end
    end
    if leased == false then
      gone = gone or {}
      gone[#gone + 1] = index
    elseif taken > 0 then
      lists = lists + 1
      if lists == 1 then
        leased_first = leased
      else
        leased_others = leased_others or {}
        leased_others[lists - 1] = leased
      end
      want = want - taken
      dealt = dealt + taken
      -- A task that crashed before is leased alone: it ends the lease, also if there would be room.
      local last = extras[#extras]
      if want <= 0 or last and last[3] > 0 then
        unasked = index + 1
        break
      end
      want_text = format('%d', want)
    end
  end
end

-- 5. A thread that is leased nothing waits from now on, and enqueue.lua is to wake it. While the hash `sequence` has the field
-- `next`, enqueue.lua wakes nobody: so that field is renamed to `0` (lib/sequence.lua). The same where this thread took a token, as
-- `wake` is empty now and another thread may be about to block there.
local is_woken, waiting = mode == 'woken', nil
if want > 0 and names then
  waiting = threads_without(names, dealt)
elseif want > 0 and lists == 0 then
  waiting = {thread}
end
if is_woken or waiting then
  for index = 1, queues do
    end_next(prefixes[index])
  end
  if waiting and mode ~= '' and queues == 1 then
    local is_idle = stand_idle(prefixes[1], given[5], waiting, settings[1])
    if is_idle then extras[#extras + 1] = {'idle'} end
  end
end

-- 6. Wake others. A thread blocks on the lists `wake` of several queues at once, and does not report whose token it took. It may
-- be that of a queue which step 4 did not ask, because there were enough tasks before or none was wanted: so a thread is woken for
-- each of these queues. Where there are limits, a task that ended may have made room for one that waits.
-- Behind a queue without the session nothing was leased either.
if is_woken and (unasked or want == 0 or gone) then
  for index = unasked or 1, queues do
    local P = prefixes[index]
    if call('EXISTS', P .. 'ready') == 1 and call('HEXISTS', P .. 'settings', 'paused') == 0 then load_careful('wake', P) end
  end
end
if freed then
  for index in pairs(freed) do
    local P, is_shut = prefixes[index], shut and shut[index] or settings[index][PAUSED]
    if not is_shut and call('EXISTS', P .. 'ready') == 1 then load_careful('wake', P) end
  end
end

-- 7. Reply.
if #refused > 0 or gone or #extras > 0 or lists > 1 then
  local reply = {tonumber(now), refused, gone or {}, extras}
  if leased_first then reply[5] = leased_first end
  for i = 1, lists - 1 do reply[5 + i] = leased_others[i] end
  return reply
end
local leased = leased_first or {}
leased[#leased + 1] = now
return leased
