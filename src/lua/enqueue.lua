#!lua
-- enqueue: puts tasks into a queue, to run in order or at a time.
--
-- The call, as a grammar; each word is one argument, and "*" repeats for each task:
--   KEYS     prefix                       the queue's prefix
--   ARGV     way id* rest*                way: "plain" or "idle"
--            way (id options rest)*       way: "0", "1", "again ..." or "carried ..."
--            "bulk" at segment count
--     way      "plain"   no task has options, and this is the first try
--              "idle"    the same, and the caller guesses that some worker's thread is idle, as the reply to its last task was 2. For
--                        one task such a thread is looked for first; with "plain" only where `next` tells no place ("Two
--                        paths"). A wrong guess costs time and does no harm. Several tasks are never handed over
--              "0"       the first try, with options
--              "1"       (a word, not a number of tasks) the second try, where it is certain that the first one made no task ready:
--                        these tasks were sent in a bulk insert that Redis refused, by NOSCRIPT or a nil of EXEC, so that none
--                        became ready. Some may be in `tasks`; one that is not there never ran
--              "again <ms> <at>"  this call, or a bulk insert of its tasks, was sent before, and its reply was lost; the first copy
--                        was sent at most <ms> ago, when Redis's clock said <at> or later (lib/proof.lua): what it made may
--                        have ended and be gone. <at> may be missing
--              "carried <queue> <number> <floor>"  the call is that message of that queue's outbox (outbox.lua), with one task. A
--                        message counts once, however often and late it comes (lib/received.lua). floor: the lowest number
--                        that the outbox held when it was read: a message below it counts as received, so its number need
--                        not be kept. 0: not known
--              "bulk"    the tasks of a bulk insert, which are written already: see lib/bulk_insert.lua
--     id       1 to @ID_LENGTH_MAX@ of the characters A-Z a-z 0-9 . _ - :
--     rest     of the envelope, behind '{"at":<now>,': the header from "type" on, a newline, the payload (docs/protocol.md)
--     options  "" or a JSON object. Times are in ms
--              at, in               when the task may run; after how long. With both, `at` counts
--              priority, group, weight
--              deadline, expires    by when it must have begun, or it dies; how long after now. With both, `deadline` counts
--              tags                 a list of texts
--              unique, until, unique_for  a unique key, until when and how long it is locked (lib/unique.lua)
--              conflict             what happens where another task has the unique key. Absent: this one is refused.
--                                   "replace": it takes the place of one that waits, but comes at its own time or priority
--                                   where it has one; "debounce": it replaces one that waits, and has its own time and
--                                   priority. One that runs or has ended is not replaced: the new one is refused
--              after                [[handle, policy], ...]: parents (lib/dependency_register.lua), at most @PARENTS_MAX@. They
--                                   may come in the same call, also later in it: they are enqueued first
--   At most @ENQUEUE_MAX@ tasks.
--
--   Example: tasks A and B of type "mail", B in a minute:
--     KEYS "reeve:{q}:"   ARGV "0"  "A" "" "\"type\":\"mail\"}\n..."  "B" "{\"in\":60000}" "\"type\":\"mail\",\"delay\":60000}\n..."
--     reply: {1, 1}
--
-- The reply: a list with a value for each task:
--   1               the task is enqueued; of a call that was sent before, perhaps by the first copy. Also where it died or was
--                   removed at once, because of its parents; and of a message that was received before, whatever became of
--                   its task
--   0               refused: another task has the id. With "1", "again" and "carried" 1 where it is the same task ("Sent
--                   twice")
--   -1              undecided ("again"): the first copy may have enqueued it, and it may have ended. Nothing is done with this
--                   task; the caller tells its user that it does not know
--   "<id>"          refused: that task has the unique key
--   "unknown <id>"  refused: there is no such parent in this queue, nor a record of it (lib/enqueue_parents.lua has exceptions); or
--                   it comes in this call and is itself refused, or waits for this task
--   "large <bytes>" refused: its payload is longer than the queue's setting payload_max, which is <bytes>
--   A message that is refused ("carried" with 0 or an id) counts as received; the carrier drops it, and nobody else is told
--   Short forms, where all tasks came on the common path: of one task 1, or 2 when a thread has it already; of several the time
--   by Redis's clock, in ms. So also of "bulk" whose segment got a place; else "bulk" has a list
--
-- What may fail:
--   failure                            consequence                          what the caller sends next
--   malformed arguments, id, options   error ERR; nothing is done. The      the corrected call
--     or envelope, or too many tasks   common path looks at less (below)
--   the call repeats tasks of bulk     error ERR; nothing is done           the same tasks in several calls
--     inserts that were cut off before
--     their tasks became ready; these
--     have more than 2048 tasks in all
--     (lib/enqueue_repeat.lua)
--   a task is refused                  the others are enqueued              nothing, or the task with another id or key
--   a right is missing, or a key with  error NOPERM or WRONGTYPE; what      the same call, in the same way, once
--     a fixed name has a wrong type    was made is removed. A call with     that is mended
--                                      `conflict` or `after`, or that is
--                                      carried, cannot be undone: it
--                                      checks types, and the rights of a
--                                      user who may not change access
--                                      lists, before it writes
--   the same, and the user may not     the envelope may stay, in no state:  `delete` of the task, then the call. "1"
--     call HDEL either                 the task does not run               and "again" would take it for enqueued
--   the key of one task, tag or unique its value, another program's, is     nothing
--     key has a wrong type             removed, and the call goes on
--                                      (lib/foreign_key.lua)
--   Redis is out of memory             error OOM; nothing is done           the same call, later
--   Redis takes no writes (READONLY,   Redis's error; nothing is done       the same call, in the same way, to the
--     MISCONF, MOVED)                                                       master or later
--   Redis does not know the script     NOSCRIPT; nothing is done; of a      the script itself (SCRIPT LOAD), then the
--                                      bulk insert, the rest of its         same call, in the same way; of a bulk
--                                      transaction is                       insert, its tasks with "1"
--   the reply is lost                  unknown: all of it may be done       the same tasks with "again"; of a bulk
--                                                                           insert once it is fenced off
--                                                                           (lib/bulk_insert.lua); a message again
--                                                                           as it was
--
-- A replacement moves the tasks that wait for the replaced one to the new one (lib/replacements.lua), at most
-- @REPLACED_CHILDREN_MAX@; with more, or where `after` names the replaced task, the new task is refused. Where the new task has
-- no `after`, and the replaced one is blocked, the new task waits for the same parents, at most @REPLACED_PARENTS_MAX@, with
-- two exceptions:
--   the placeholder "!" is left out
--   a parent that the replaced task waits for only in case of its death is left out
-- Where no parent is left, the new task is ready, or scheduled if it has a time.
--
-- Sent twice: an id that exists is left alone. With "1", "again" and "carried" it counts as enqueued where its envelope is the
-- one that the call brings, else the reply is 0. The three differ where the id does not exist. With "1" it never ran, and is
-- enqueued. With "again" it is either new, or it came and is gone. It is enqueued only if the second is impossible: the queue
-- still has all records of tasks that ended since the first copy was sent, and none was discarded, deleted or moved
-- (lib/proof.lua). Else the reply is 1 if the task still has its unique key, or -1. With "carried", lib/received.lua knows.
-- There is one exception: a task that another one has replaced meanwhile never ran, so the repeated call enqueues it again, and
-- with `conflict` it replaces its successor while that waits. Tasks of a bulk insert whose last command was not carried out get
-- their places then (lib/enqueue_repeat.lua).
--
-- Two paths. To make a function costs Redis's Lua as much as a small command, and a script makes its functions anew at each
-- call. The common path is for "plain" and "idle", new ids, a `rest` of at most @LARGE@ bytes, and queues without groups,
-- events and a limit of payloads. It is made of steps, which the build writes out; its first part makes no function. A step
-- either does its work, or leaves no task and returns nil or an error; after nil some places stay unused, and a thread may be
-- woken in vain. Then `make_and_call` makes the functions of the careful path, which covers everything else.
--   The field `next` of the hash `sequence` has the place (score) of the last task. While it exists, nobody is idle, and there are
-- neither groups, nor events, nor a limit of payloads (lib/sequence.lua): step 1 is all that one task of way "plain" needs.
-- Other tasks, and all tasks while the field does not exist, take steps 2 to 4. Step 1 or 3 creates the field when it adds to
-- it: a sum of at most @SCORE_START@, which is no place of a new task, shows that it did not exist. Such a field counts as
-- absent until step 4 overwrites or another script removes it.
--
-- The common path checks less than the careful one: of one task the size and the newline of the envelope, of several the sizes.
-- Only calls that check rights before they write check KEYS[1] (lib/expect.lua). The common path takes an id that is as long as
-- a UUID for one. A malformed task that comes through so goes to the dead letters when it is read; an id with blanks makes the
-- list of ids of an event look longer.

-- require: enqueue_plain, enqueue_several

local given, P = ARGV, KEYS[1]
if not P then return redis.error_reply('ERR @NAME@: KEYS[1] is missing') end
local way = given[1]
local seconds, millis = read_clock()
local is_plain, last, envelope = way == 'plain' or way == 'idle', nil, nil
-- How many tasks the call brings, while all of them can come on the common path; nil: they take the careful path.
local common

-- 1. One task, and `next` tells its place: no thread is idle.
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

-- Makes functions that are rarely needed, and calls one: what: "hand", "wake", "bulk", or "any": the careful path. now: ms, as
-- text; `...`: the other arguments of hand_to_idle.
local function make_and_call(what, P, now, ...)
-- require: hand
  if what == 'hand' then return hand_to_idle(P, now, ...) end
-- require: wake_one
  if what == 'wake' then return wake_one(P) end
-- require: bulk_insert
  if what == 'bulk' then return place_segment(P, tonumber(now)) end
-- require: base
  -- "any". In functions of their own, in which the names above are cheaper: see CONTRIBUTING.md.
  return (function(...)
-- require: foreign_key, options, sequence, transitions, enqueue_lists
    return (function(...)
-- require: enqueue_undo
      return enqueue_or_undo(...)
    end)(...)
  end)(P, ARGV, tonumber(now))
end

-- 2. One task, and a thread may be idle: it gets the task at once.
if common then
  local reply = make_and_call('hand', P, seconds .. millis, given[2], envelope)
  if reply and reply ~= 'careful' then return reply end
  if reply then common = nil end
elseif is_plain and #given > 3 then
  common = count_common_ids(given)
end

-- 3. The tasks that come on the common path get their places: `last` is that of the last one.
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

-- 4. Where `next` told no place, a thread is woken. This is before the tasks are written, so that no task exists if Redis
-- refuses it; the thread's turn comes after the whole script.
if common and is_unset then
  local has_token = save_last_place(P, last)
  if not has_token then make_and_call('wake', P) end
end

-- 5. The tasks are written.
if common then
  local reply
  if common == 1 then
    reply = insert_one(P, given[2], envelope, last)
  else
    reply = insert_several(P, given, common, last, seconds, millis)
  end
  if reply then return reply end
end

-- 6. The careful path.
local bulk_reply = way == 'bulk' and make_and_call('bulk', P, seconds .. millis)
return bulk_reply or make_and_call('any', P, seconds .. millis)
