#!lua flags=allow-oom
-- turn: one call that settles the tasks that a thread has finished, and then leases the tasks that the thread runs
-- next. It runs also when Redis is out of memory (allow-oom), because tasks that end free memory. The memory that
-- leases, retries and chained tasks add is bounded.
--
-- Words of this comment; docs/glossary.md has those of users, such as payload, retention and checkpoint:
--   envelope    a task as the hash `tasks` stores it: a header of JSON, a newline, the payload
--   state       the key that has the id of a task: `ready`, `scheduled`, `completed`, ...; of a running task it is the
--               hash of a session. A task in no state is lost until regain.lua or repair.lua brings it back
--   outcome     what the attempt to run a task ended with: done, retry, fail, ...
--   session     the registration of a worker in one queue. It exists while the hash running:<session> has the field `#`
--   lease       a field of that hash: the id of a task -> "<since ms> <thread>". The session then holds the task
--   to settle   to remove the task from that hash, and to move it to the state that its outcome asks for
--   refused     an outcome of a task that the session does not hold is refused: it changes nothing
--   token       the element of the list `wake`, which has at most one. It stands for one wake-up: a thread that blocks
--               on `wake` takes it and calls this script
--   idle        a thread that waits to be handed a task is in the list `idle`, and blocks on its own list
--               hand:<session>:<thread> (lib/hand.lua). It receives a task there, or an empty item: poll the queue
--   common path, careful path   the two ways through this script, see "Two paths" below
-- In the code, P is the prefix of a queue.
--
-- The call, as a grammar; each word is one argument, and "*" repeats as often as there are things:
--   KEYS     prefix*           the prefixes of the L queues to lease from, in order; then those of queues that are only
--                              settled in. In a cluster all of them are in one hash slot
--   ARGV     thread want L mode, session*, group*
--     thread   the thread's name within its session. In the mode "several": for each of the `want` tasks the name of
--              the thread that it is for, separated by blanks: "3 7 7". Each thread is named once before any is named
--              twice
--     want     how many tasks to lease at most; 0: only settle. More than @CALL_MAX@ counts as @CALL_MAX@.
--              In the mode "several": 1 to @CALL_MAX@
--     L        how many of KEYS to lease from
--     mode     why the thread calls, and how it waits if it is leased nothing
--              ""       it waits on `wake`, or calls again later
--              "idle"   if L is 1, it is added to `idle`; else as with ""
--              "again"  as "idle", and the thread may be in `idle` since an earlier call. If it was handed something
--                       meanwhile, this call leases it nothing
--              "woken"  as "idle", and the thread took the token from `wake`. If it does not poll all queues, step 6
--                       wakes other threads for those that it did not poll
--              "several"  one thread calls for others of its session, too. The leased tasks are, in their order, those
--                       of the threads in ARGV[1]. Each lease has the name of its thread, which can call recover.lua
--                       by itself. A thread that is leased nothing waits: if L is 1 as with "idle", else as with ""
--     session  for each of the L queues: the id of the session that leases there. begin_session.lua begins it
--     group    index session lease N id*N R record*R: a settlement group: what to settle for one session in one queue,
--              of any of its threads. It has nothing to do with the task option `group`. Several of them may name the
--              same queue
--       index    of the queue in KEYS, from 1
--       lease    "<since ms> <thread>": an outcome counts only for a task that the session holds by exactly this lease.
--                A caller that may send an outcome again without recover.lua needs it, as the keeper of a worker, a
--                thread that settles for busy threads. "": any lease of the session counts
--       N id*    how many plain completions, at most @CALL_MAX@, and their ids. A completion is plain if it needs none
--                of the letters below. The tasks may have tags. Their results come as `results` or `result_block`
--       R        how many records follow; `results` or `result_block` counts as one
--       record   outcome id first second third, five arguments:
--                done    result, "1" if there is one, letters      completed. Letters:
--                        "i"  the task has an info:<id> or parents:<id>
--                        "1"  it has a unique key, which is unlocked
--                        "k"  it has a unique key and runs at most once: it is completed before its handler starts. It
--                             keeps the key until once.lua is called or its session ends. Never together with "1"
--                        "c"  it has a checkpoint
--                        "d"  it has a deadline
--                        "r"  its runs are recorded
--                        "t"  it has a retention of its own (`keep`)
--                retry   delay in ms, kind, message                failed; scheduled for another attempt
--                fail    "1" if an attempt failed, else "0": then the failure is not counted; kind, message      dead
--                chain   handle, options and rest as in enqueue.lua: a chained task. It is enqueued if the session
--                        holds `id`, and no task has the id of the chained task. Otherwise nothing happens, and the
--                        reply does not tell. The record `done` of `id` follows, perhaps behind more records `chain`.
--                        The script does not check that: before another outcome the chained task is enqueued all the
--                        same
--                crash   with how many crashes the task dies, or "0"; message; backtrace or "": the process died while
--                        the handler ran. The task goes back to the front of the queue. "0": it is not known that this
--                        task caused the crash; it does not die of it
--                snooze  delay in ms; "1" if its handler had begun, "2" if it had and the snooze is counted, else "";
--                        ""      scheduled. Without a delay (0 or less) it goes back to the front of the queue
--                cancel  "1": discarded, without a record, or ""; reason; ""     cancelled
--                After `retry`, `fail`, `crash` and `snooze`, a task that was cancelled while it ran ends as cancelled.
--                The first record may instead be one of these, with the results of the last M plain completions:
--                "results" M result*M
--                "result_block" M block         in one argument, for small results: for each of them "<id> <bytes>", a
--                                               newline and the bytes (lib/result_block.lua). M is 1 or more
--
--   Example: thread 3 of session w-1 completes task A and asks for one more task of the queue q:
--     KEYS "reeve:{q}:"   ARGV "3" "1" "1" "idle"  "w-1"  "1" "w-1" "" "1" "A" "0"
--     reply, task B is leased:         {1, "B", "{"at":...", "1700000000000"}
--     reply, nothing is ready:         {1700000000000, {}, {}, {{"idle"}}}: block on hand:w-1:3
--     reply, w-1 did not hold A:       {1700000000000, {"A"}, {}, {}, {1, "B", "{"at":..."}}
--     reply, B is ready, and the session w-1 does not exist:
--                                      {1700000000000, {"A"}, {1}, {}}: w-1 has ended, because it had leased A. Begin
--                                      w-2; then the same call without A, by w-2
--
-- The reply:
--   [1] now in ms
--   [2] refused: the ids of refused outcomes: "<id>" of settlement group 1, "<n> <id>" of group n from 2 on, because
--       two queues may have tasks of the same id
--   [3] gone: the indexes of queues in which the session does not exist: it has not begun, or has ended. The script
--       asks for the session only where it could lease: a task is ready, and the queue is neither paused nor at a
--       limit. So sessions begin where they are needed. From the first of these queues on nothing is leased, because
--       the caller begins the sessions and asks again in the same order
--   [4] a list of
--       {id, failures, crashes, letters}   for each leased task that has such data. letters: "c" if it left a
--                   checkpoint; "a" if it crashed before while it ran alone; the number of its snoozes, if they are
--                   counted; absent if none applies
--       {"idle"}    a thread that is leased nothing is to block on its list hand:<session>:<thread>
--   [5...] for each queue with leased tasks: {index in KEYS, id, envelope, id, envelope, ...}
--   Short form, where [2] to [4] would be empty and at most one queue leases: the items of [5], and behind them now as
--   text; or {now} alone. In the short form [2] is a text or absent, in the long form it is a list
--
-- What may fail:
--   failure                         consequence                           what the caller sends next
--   malformed arguments             error ERR; nothing is done. One       the corrected call
--                                     exception: a malformed
--                                     result_block is no error. Results
--                                     behind the fault are lost, also
--                                     those that other turns of the
--                                     same ms append to the block
--   the session does not hold a     refused in [2]                        nothing: the task was settled before, or went
--     task                                                                  back when its session was reaped or its
--                                                                           lease was ended by hand
--   the session does not exist      in [3]; nothing is leased there       begin_session.lua, with a new id if the
--                                                                           session can have begun before; then this
--                                                                           call without its groups, and with `want`
--                                                                           less what was leased
--   a right or a key's type is      error NOPERM or WRONGTYPE; earlier    as after a lost reply
--     wrong                           groups may be settled, tasks leased
--   NOSCRIPT; READONLY, MISCONF,    Redis's error; nothing is done        SCRIPT LOAD; to the master or later; the same
--     MOVED                                                                 call
--   the reply is lost               all of it is done, or nothing; or a   for each of the queues recover.lua; then
--                                     part, if Redis refused a command      regain.lua for the tasks that this call was
--                                     in between                            to settle and that recover.lua did not
--                                                                           return; then recover.lua again; then this
--                                                                           call, with the outcomes of the tasks that
--                                                                           are still held
--
-- Settling may be sent twice. An outcome counts only if the id can be removed from the session's hash
-- running:<session>, which works once; the second call is told that it is refused. A chained task is enqueued only
-- while the session holds the task that chained it. It is therefore enqueued once, unless Redis refuses a later record
-- of the same group: the turn is then sent again, and enqueues a second time a chained task that has ended meanwhile
-- without a record. HDEL of several ids returns only a count: if some of several plain completions were missing, an id
-- counts as removed if its task exists and is in no state. Between the two calls the task may have gone back to the
-- queue, and the same session may have leased it again: the argument `lease` then tells the leases apart.
--
-- Leasing may not be sent twice: the second call leases more tasks. So after a lost reply the thread first calls
-- recover.lua. It takes the thread out of `idle`, and returns the leases that have the name of the thread, with the
-- same data as [4]. From these the thread concludes:
--   the session exists:
--     it holds a task that the thread was to settle, by the lease that the thread knows     the task was not settled
--     it holds a task by a lease that the thread does not know     the lost call leased the task, or the task was
--       handed over
--     it does not hold a task that the thread was to settle     the task was settled, or one of these happened:
--       a turn failed halfway: Redis refused a command after HDEL, and the task is in no state. regain.lua gives the
--         lease back to the session
--       somebody ended the lease by hand: expire.lua, edit.lua, move.lua, fail.lua or forget.lua. The outcome is
--         refused. recover.lua does not tell this from a settlement; a message `revoke` tells the worker
--         (lib/revoke.lua). repair.lua does the same to a malformed lease, without a message
--   the session had begun, and does not exist: reap.lua ended it. All that it held went back to the queue. Nobody can
--     tell what was settled before. The thread counts what it was about to settle as refused
--
-- Who does the rest:
--   Tasks of a dead session: maintain.lua finds that a session is dead; then some worker calls reap.lua, which brings
--     its tasks back.
--   Tokens: a script that makes a task ready wakes one thread (lib/wake_one.lua): it sends an empty item to an idle
--     thread, or else puts the token into `wake`. A thread that blocks on `wake` with BLPOP takes the token, and then
--     calls turn with "woken". If that turn fails, it may be sent with "woken" again. If it is never sent, the wake-up
--     is lost, and the next call of maintain.lua wakes a thread if a task is ready. A thread that enters `idle` removes
--     the token.
--   Threads in `idle`: a script that hands a task over, or wakes a thread, takes the thread out of `idle`. It skips
--     threads whose session does not exist any more (lib/hand.lua, lib/wake_one.lua).
--   Lists hand:<session>:<thread>: the thread takes the item with BLPOP. recover.lua, reap.lua and end_session.lua
--     remove the list. A task in it is leased to the thread like any other task, so it is not lost with the list.
--
-- Two paths. Redis's Lua makes the functions of a script anew at each call, and to make one costs as much as a small
-- command. The common path covers plain completions, and the leasing of tasks whose envelopes are not marked (has_info
-- in lib/base.lua), in queues without limits and events in which nobody waits for the end of a task. The build writes
-- the functions of this path, its steps, into the places where they are called: so a call on the common path makes one
-- function, `load_careful`. The careful path covers everything else, with some hundred functions, which `load_careful`
-- makes when they are first needed.
--
-- Some steps of the common path do their work, or change nothing and return nil or false, and then the careful path
-- does the work: head_of, take_completed and lease_plain. take_completed may also remove a part of its ids, and returns
-- how many; the careful path goes on from there. If Redis refuses to write the leases, lease_plain leases nothing. If
-- Redis refuses to take the leased tasks out of `ready`, lease_plain removes the leases; but not those of tasks whose
-- ids have left the list of a segment, which recover.lua returns. In each case Redis's error ends the call.
--
-- A task is in the same state after either path. How its data are stored may differ: results are in a block or in a
-- field each, tasks stay in a segment or are taken out of it, ended tasks are trimmed at once or some calls later, and
-- tags of tasks that are not kept are removed here or by maintain.lua. No test compares the commands of the two paths.
-- ct_model sends random calls through both, and compares the result with one model, which does not know the paths.

-- require: shortcuts, turn_arguments, turn_settings, turn_settle, turn_lease, turn_wait

local given, prefixes = ARGV, KEYS
local final = #given
local want, want_text, queues, mode, fault = read_counts(given, final, prefixes)
if fault then return redis.error_reply('ERR turn: ' .. fault) end
local thread = given[1]
local first_group = 5 + queues
local now = read_clock()
-- names: for each of the `want` tasks, the name of the thread that it is for; nil: all are for `thread`. dealt: how
-- many tasks were leased so far.
local names, dealt = nil, 0
if mode == 'several' then
  names = names_of_several(thread, want)
  thread = names[1]
  if #names ~= want or want == 0 then return redis.error_reply('ERR turn: ARGV[1] does not name `want` threads') end
end

-- what: "settling" or "leasing": makes the functions of the careful path for that, and returns them. "wake": wakes one
-- thread of the queue with the prefix P. The function uses no local variable of the script, because each would cost at
-- every call. Names in capitals such as IN_FORCE are no variables: the build writes their numbers.
local function load_careful(what, P)
-- require: wake_one
  if what == 'wake' then return wake_one(P) end
-- require: base
  -- The inner function makes the names that base defines cheaper: see docs/scripts.md.
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
-- What `load_careful` returned for "settling" and for "leasing"; nil until it is needed.
local settling, leasing

-- 1. Check the form of all settlement groups before anything is written. at: the place in ARGV that is read next.
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

-- 2. Settle each group. `refused` and `extras` are [2] and [4] of the reply. settings: index of a queue -> its settings
-- (lib/turn_settings.lua); s: those of one queue. session_known: index -> a session that is known to exist, because
-- none of its outcomes was refused. freed: the indexes of queues with limits, where what was settled may let another
-- task start. refused_before: how many ids were refused in the groups before. A table {false} has room for its first
-- element, which costs less than a table that grows.
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
  -- If there are records, step 1 has checked them, and `settling` is set.
  if records > 0 then settling.records(P, running, lease, records_at, records, now, s, refused) end
  -- "e" alone: only events are on, and these let no task wait.
  if s[IN_FORCE] and s[IN_FORCE] ~= 'e' then
    freed = freed or {}
    freed[index] = true
  end
  -- A last record `chain` does not show that the session exists, because it is never refused.
  if #refused == refused_before and (count > 0 or records > 0 and given[at - 5] ~= 'chain') then session_known[index] = session end
  if group > 1 then
    for i = refused_before + 1, #refused do refused[i] = format('%d ', group) .. refused[i] end
  end
  refused_before = #refused
end

-- 3. A thread that may be in `idle` since an earlier call leaves it. If another script took it from there before, an
-- item is in its list. Then the thread is leased nothing here, and {"idle"} sends it to that list, where its BLPOP
-- returns at once.
if mode == 'again' and queues == 1 then
  local is_handed = leave_idle(prefixes[1], given[5] .. ':' .. thread)
  if is_handed then want, extras[1] = 0, {'idle'} end
end

-- 4. Lease from each queue in turn, until `want` tasks are leased. lists: from how many queues tasks were leased.
-- leased_first: the list of the reply for the first of these queues; leased_others: the lists for the others. gone: [3]
-- of the reply. shut: index -> true, if a limit lets no more tasks start. unasked: the first queue that was not polled,
-- because enough tasks were leased before.
local lists, leased_first, leased_others, gone, shut, unasked = 0, false, false, false, false, nil
for index = 1, want > 0 and queues or 0 do
  local P, session = prefixes[index], given[4 + index]
  local s = settings_to_lease(P, settings[index], queues)
  settings[index] = s
  local ids
  if s and not s[PAUSED] then ids = head_of(P, want, want_text, s) end
  -- ids: the first members of `ready`; false: the careful path is needed; nil: the queue is paused, or nothing is
  -- ready.
  if ids == false or ids and ids[1] then
    local leased, taken, more, failure
    if ids and not gone then
      leased, taken, more, failure = lease_plain(P, index, P .. 'running:' .. session, ids, want, want_text, now, thread,
        session_known[index] == session, names, dealt)
    end
    if failure then return failure end
    if leased then
      -- A thread that leaves tasks in `ready` wakes the next thread, unless there is a token.
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
      -- A task that crashed before is leased as the last one of a call: nothing else is leased behind it.
      local last = extras[#extras]
      if want <= 0 or last and last[3] > 0 then
        unasked = index + 1
        break
      end
      want_text = format('%d', want)
    end
  end
end

-- 5. A thread that is leased nothing waits from now on, and enqueue.lua is to wake it. While the hash `sequence` has
-- the field `next`, enqueue.lua wakes nobody: so end_next renames that field to `0` (lib/sequence.lua). It does the
-- same if this thread took the token: `wake` is empty now, and another thread may be about to block there.
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

-- 6. Wake other threads. After "woken": a thread blocks on the lists `wake` of several queues at once, and does not
-- know whose token it took. The token may have been for a queue that step 4 did not lease from: because enough tasks
-- were leased before it, because `want` is 0, or because the session of an earlier queue does not exist. So a thread is
-- woken for each queue with a ready task: from the first one that was not polled on, or, where none is known, for all
-- queues. After settling under limits: a task that ended may have made room for one that waits.
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
