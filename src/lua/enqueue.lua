#!lua
-- enqueue: adds tasks to a queue. A new task is blocked if it waits for parents, scheduled if its time is to come, else
-- ready. A ready task can be handed over: it is leased to an idle thread at once (lib/hand.lua).
--
-- Terms (more are in docs/glossary.md):
--   envelope       a task as it is stored in the hash `tasks`: a JSON header, a newline, the payload (docs/protocol.md)
--   place          the score of a task in the sorted set `ready` (lib/sequence.lua)
--   bulk insert    a transaction in which the client itself writes envelopes, and then calls this script to give them
--                  their places (lib/bulk_insert.lua)
--   record         what is kept of a task that has ended, for a time (lib/retention.lua)
--   handle         "<queue>/<id>", the name of a task outside its queue
--   message        an entry of the outbox of another queue; here it contains a task for this queue (outbox.lua)
--   carrier        the worker or client that delivers messages
--   careful path   the code that serves every call; the common path is a shorter code for frequent calls ("Two paths")
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     one of three forms. <way> is one argument, even if it has several words:
--            <way> <id>... <rest>...            with the ways "plain" and "idle": all ids, then all rests
--            <way> {<id> <options> <rest>}...   with the ways "0", "1", "again" and "carried"
--            "bulk" <at> <segment> <count>      the tasks of a bulk insert (lib/bulk_insert.lua)
--          At most @ENQUEUE_MAX@ tasks.
--   <way>      "plain"   first try; no task has options
--              "idle"    the same. The client expects an idle thread, as the reply to its last task was 2. For one task
--                        the script looks for an idle thread first; with "plain" it often need not (step 1 below). A
--                        wrong guess costs time only. Several tasks are never handed over
--              "0"       first try; tasks may have options
--              "1"       second try. Redis certainly made no task ready in the first one: it replied NOSCRIPT, or nil
--                        to EXEC. After a bulk insert with NOSCRIPT the envelopes are in `tasks`. A task that is not
--                        there never ran
--              "again <ms>" or "again <ms> <at>"
--                        repeated try: the reply to the first one, which may have been a bulk insert, was lost. The
--                        first try was sent at most <ms> ms ago, when Redis's clock showed <at> or later
--                        (lib/proof.lua). Since then its tasks may have ended, and their records may be gone
--              "carried <queue> <number> <floor>"
--                        the only task of the call is from message <number> of the outbox of <queue>. A message takes
--                        effect once, however often it is delivered (lib/received.lua). <floor>: the lowest number that
--                        the outbox contained when it was read; 0: unknown. Messages with lower numbers do not come
--                        again, so the queue does not remember their numbers
--   <id>       1 to @ID_LENGTH_MAX@ of the characters A-Z a-z 0-9 . _ - :
--   <rest>     the envelope without its beginning, '{"at":<now>,', which the script adds: the header from "type" on, a
--              newline, the payload
--   <options>  "" or a JSON object. Times and durations are in ms. Each member may be absent:
--              at, in               the task can run from this time on; after this delay. `at` overrides `in`
--              priority, group, weight   they decide the place (lib/sequence.lua)
--              deadline, expires    if the task has not begun at this time, it dies; the same after this duration.
--                                   `deadline` overrides `expires`
--              tags                 a list of at most @TAGS_MAX@ texts
--              unique, until, unique_for   the unique key, and how long the task holds it (lib/unique.lua)
--              conflict             what happens if another task, the holder, has the unique key. Absent: the new task
--                                   is refused. "replace": the new task removes the holder and takes its place, but the
--                                   options `at`, `in` and `priority` of the new task apply if they are given.
--                                   "debounce": the new task removes the holder, and its own options apply. Both need a
--                                   holder that is waiting; else the new task is refused
--              after                [[handle, policy], ...]: parents (lib/dependency_register.lua), at most
--                                   @PARENTS_MAX@. A parent can be a task of the same call in any position: parents are
--                                   enqueued before their children
--
-- reply    a list with one element for each task:
--            1                the task is enqueued, by this call or an earlier copy of it. Some tasks with parents die
--                             or are removed at once (lib/enqueue_children.lua): the reply is 1, too. With "carried"
--                             also 1 if the message was received before
--            0                refused: another task has the id, or the call contains the id twice
--            -1               not known, only with "again": the first copy may have enqueued the task, and the task may
--                             have ended. This call does nothing for the task; the client reports the doubt to its user
--            "<id>"           refused: the task <id> has the unique key
--            "unknown <id>"   refused: this queue has neither the parent <id> nor a record of it; or the parent is a
--                             task of this call that was refused, or that waits for this task. "carried" tasks die
--                             instead. lib/dependency_register.lua: which parents may be unknown
--            "large <bytes>"  refused: the payload is longer than <bytes>, the setting payload_max. Never with
--                             "carried"
--          A message whose task is refused counts as received: the carrier removes it, and nobody is notified.
--          If the common path enqueued all tasks, the reply is a number instead of a list: for one task 1, or 2 if it
--          was handed over; for several Redis's clock in ms. The reply to "bulk" is Redis's clock, too, if the segment
--          got a place; else it is a list.
--
-- Example: tasks A and B of type "mail", B in a minute:
--   KEYS reeve:{q}:   ARGV "0"  "A" "" "\"type\":\"mail\"}\n..."
--                               "B" "{\"in\":60000}" "\"type\":\"mail\",\"delay\":60000}\n..."
--   reply  {1, 1}
--
-- Failure                            Consequence                          The caller sends next
-- malformed arguments, id, options   error ERR; nothing is written. The   the corrected call
-- or envelope; too many tasks        common path checks less (below)
-- a repeated call has tasks of bulk  error ERR; nothing is written        the same tasks in several calls
-- inserts whose segments got no
-- place, and these segments have
-- more than 2048 tasks in all
-- (lib/enqueue_repeat.lua)
-- a task is refused                  the others are enqueued              nothing, or the task with another id or key
-- a right is missing, or a key with  error NOPERM or WRONGTYPE; the       the same call, with the same <way>, once
-- a fixed name has a wrong type      script removes what it wrote. Some   that is mended
--                                    calls write more than can be
--                                    removed: those with `conflict` or
--                                    `after`, with "carried", and those
--                                    that give segments their places.
--                                    They check rights and types before
--                                    they write (lib/allowed.lua)
-- the same, and the user may not     the envelope may stay. The task is   `delete` of the task, then the call: "1"
-- call HDEL, either                  in no state, and does not run        and "again" would report it as enqueued
-- the key of an idle thread, or the  error WRONGTYPE on the common path;  the same call: it does not use that key
-- list of the newest segment, has a  the script removes what it wrote
-- wrong type
-- the key of one task, tag or        the careful path removes the value,  nothing
-- unique key has a wrong type        which another program wrote, and
--                                    goes on (lib/foreign_key.lua)
-- Redis is out of memory             error OOM; nothing is written        the same call, later
-- Redis takes no writes (READONLY,   Redis's error; nothing is written    the same call, to the master or later
-- MISCONF, MOVED)
-- Redis does not know the script     NOSCRIPT; nothing is written. The    SCRIPT LOAD, then the same call; after a
--                                    other commands of a bulk insert are  bulk insert its tasks with "1"
--                                    executed
-- the reply is lost                  not known: all of it may be done     the same tasks with "again", after a bulk
--                                                                         insert once it is closed
--                                                                         (lib/bulk_insert.lua); a message as before
--
-- Replacement (`conflict`): the tasks that wait for the holder wait for the new task from then on
-- (lib/replacements.lua). If the holder is blocked, and the new task has no `after`, the new task waits for those
-- parents and signals of the holder that have not come, except: the placeholder "!"; "!worker.<id>", which binds a task
-- to a worker; and parents with the policy "x", for whose death the holder waited. It may read the results that the
-- holder could read. If nothing is left to wait for, the new task is ready, or scheduled if it has a time. The new task
-- is refused if more than @REPLACED_CHILDREN_MAX@ tasks wait for the holder, if the holder is blocked and names more
-- than @REPLACED_PARENTS_MAX@ parents, ended ones included, or if `after` names the holder.
--
-- Sent twice: a task whose id exists stays as it is. With "plain", "idle" and "0" the reply for it is 0. With "1",
-- "again" and "carried" it is 1 if the stored envelope is the one of the call, else 0. What happens with an id that
-- does not exist depends on the way:
--   "1"        it is enqueued: it never ran.
--   "again"    it is new, or it came, ended, and has no record. It is enqueued only if it is certainly new: the queue
--              still has the records of all tasks that ended since the first try, no task was deleted or discarded
--              since (lib/proof.lua), and the task was neither replaced nor moved to another queue (`replaced_by:<id>`,
--              which exists for some minutes, or for a day after a move). If that is not certain, the reply is 1 if the
--              task has its unique key, or if a task of this call replaced it; else -1. A queue that was forgotten
--              meanwhile (forget.lua) proves everything: nothing is left of it.
--   "carried"  it is enqueued, unless the message was received before (lib/received.lua).
-- If the segment of a bulk insert got no place, the repeated call gives its tasks places (lib/enqueue_repeat.lua).
--
-- Two paths. Lua creates the functions of a script anew in each call, and to create one costs about as much as a small
-- command of Redis. The common path therefore consists of steps: functions that the build writes out where they are
-- called (docs/scripts.md). It enqueues tasks that come with "plain" or "idle", have new ids and no large envelope
-- (more than @LARGE@ bytes), in a queue without groups, events and payload_max. A step does its work and returns the
-- reply; or it leaves no task behind, and returns an error, or nil for the careful path. After nil some places stay
-- unused, and a thread may have been woken in vain. `make_and_call` creates the functions of the careful path.
--
-- The field `next` of the hash `sequence` is the last place that was given to a plain task. It exists only while no
-- thread is idle, and the queue has neither groups nor events nor payload_max (lib/sequence.lua). So if it exists, one
-- task with "plain" takes step 1 only. All other calls of the common path take steps 2 to 5. HINCRBY in step 1 or 3
-- creates the field if it is absent. The script detects that by the sum, at most @SCORE_START@: real places are higher.
-- Such a field counts as absent until step 4 or another script overwrites or removes it.
--
-- The common path does not check everything. It checks the size of each envelope, of one task also its newline, and
-- each id, but not the characters of an id that is as long as a UUID. A malformed task that passes becomes dead when a
-- script reads it. The common path does not check KEYS[1]; calls that check rights before they write do
-- (lib/expect.lua).

-- require: enqueue_plain, enqueue_several

local given, P = ARGV, KEYS[1]
if not P then return redis.error_reply('ERR @NAME@: KEYS[1] is missing') end
local way = given[1]
local seconds, millis = read_clock()
local is_plain, last, envelope = way == 'plain' or way == 'idle', nil, nil
-- The number of tasks while the call is on the common path; nil: it takes the careful path.
local common

-- Step 1: one task. If `next` exists and way is "plain", the task gets its place and is written.
if is_plain and #given == 3 then
  local is_common = is_common_task(given[2], given[3])
  if is_common then common, envelope = 1, '{"at":' .. seconds .. millis .. ',' .. given[3] end
end
if common and way == 'plain' then
  last = call('HINCRBY', P .. 'sequence', 'next', '@SCORE_STEP@')
  if last > @SCORE_START@ then
    local reply
    if last < @SCORE_BAND@ then reply = insert_one(P, given[2], envelope, last) end
    if reply then return reply end
    common = nil
  end
end

-- Creates functions that are rarely needed, and calls one of them. what: "hand", "wake", "bulk", or "any" (the careful
-- path). now: ms, as text; `...`: the other arguments of hand_to_idle.
local function make_and_call(what, P, now, ...)
-- require: hand
  if what == 'hand' then return hand_to_idle(P, now, ...) end
-- require: wake_one
  if what == 'wake' then return wake_one(P) end
-- require: bulk_insert
  if what == 'bulk' then return place_segment(P, tonumber(now)) end
-- require: base
  -- what is "any". The nested functions make the names above cheaper (docs/scripts.md).
  return (function(...)
-- require: foreign_key, options, sequence, transitions, enqueue_lists
    return (function(...)
-- require: enqueue_undo
      return enqueue_or_undo(...)
    end)(...)
  end)(P, ARGV, tonumber(now))
end

-- Step 2: one task is handed over if a thread is idle. Several tasks are counted, and their ids checked.
if common then
  local reply = make_and_call('hand', P, seconds .. millis, given[2], envelope)
  if reply and reply ~= 'careful' then return reply end
  if reply then common = nil end
elseif is_plain and #given > 3 then
  common = count_common_ids(given)
end

-- Step 3: the tasks get their places. `last` is the place of the last one. is_unset: `next` was absent.
if common and not last then
  last = call('HINCRBY', P .. 'sequence', 'next', common == 1 and '@SCORE_STEP@' or format('%d', @SCORE_STEP@ * common))
end
local is_unset = common and last <= @SCORE_START@
if is_unset then last = begin_places(P, common) end
if common and (not last or last >= @SCORE_BAND@) then common = nil end
if common and common > 1 then
  local are_new = are_new_tasks(P, given, common)
  if not are_new then common = nil end
end

-- Step 4: if `next` was absent, stores the last place and wakes a thread. If Redis refuses a command here, no task has
-- been written. The thread finds the tasks, although it is woken first: Redis executes its commands after this script.
if common and is_unset then
  local has_token = save_last_place(P, last)
  if not has_token then make_and_call('wake', P) end
end

-- Step 5: writes the tasks.
if common then
  local reply
  if common == 1 then
    reply = insert_one(P, given[2], envelope, last)
  else
    reply = insert_several(P, given, common, last, seconds, millis)
  end
  if reply then return reply end
end

-- The careful path; before it, a place for the segment of a bulk insert.
local bulk_reply = way == 'bulk' and make_and_call('bulk', P, seconds .. millis)
return bulk_reply or make_and_call('any', P, seconds .. millis)
