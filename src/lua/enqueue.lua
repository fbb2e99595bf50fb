#!lua
-- enqueue: puts tasks into a queue, to run in order or at a time.
--
-- The call, as a grammar; each word is one argument, and "*" repeats for each task:
--   KEYS     prefix                       the queue's prefix
--   ARGV     way id* rest*                way: "plain" or "idle"
--            way (id options rest)*       way: "0", "1", "again ..." or "carried ..."
--            "laid" at packet count
--     way      "plain"   no task has options, and this is the first try
--              "idle"    the same, and an idle thread is likely: one is looked for before a task gets its place
--              "0"       the first try, with options
--              "1"       this call was sent before, and its reply was lost
--              "again <ms> <at>"  the same; the first copy was sent at most <ms> ago, when Redis's clock said <at> or later
--                        (lib/proof.lua): what it made may have ended and be gone. <at> may be missing
--              "carried <queue> <number> <floor>"  the call is that message of that queue's outbox (outbox.lua), with one task. A
--                        message counts once, however often and late it comes (lib/received.lua). floor: the lowest number
--                        that the outbox held when it was read; 0: not known
--              "laid"    the tasks of a bulk insert, which are written already: see lib/bulk_insert.lua
--     id       1 to @ID_LENGTH_MAX@ of the characters A-Z a-z 0-9 . _ - :
--     rest     of the envelope, behind '{"at":<now>,': the header from "type" on, a newline, the payload (docs/protocol.md)
--     options  "" or a JSON object. Times are in ms
--              at, in               when the task may run; after how long
--              priority, group, weight
--              deadline, expires    the task dies when it has not begun by then; after that time
--              tags                 a list of texts
--              unique, until, hold  a unique key, until when and how long it is locked (lib/unique.lua)
--              conflict             what happens where another task has the unique key. Absent: this one is refused.
--                                   "replace": it takes the place of one that waits, but comes at its own time or priority
--                                   where it has one; "debounce": the one that waits goes, and this one comes at its own time
--              after                [[handle, policy], ...]: parents (lib/dependency_register.lua), at most @PARENTS_MAX@. They
--                                   may come in the same call, also later in it: the task comes behind them
--   At most @ENQUEUE_MAX@ tasks.
--
--   Example: tasks A and B of type "mail", B in a minute:
--     KEYS "reeve:{q}:"   ARGV "0"  "A" "" "\"type\":\"mail\"}\n..."  "B" "{\"in\":60000}" "\"type\":\"mail\",\"delay\":60000}\n..."
--     reply: {1, 1}
--
-- The reply: a list with a value for each task:
--   1               the task is enqueued; of a call that was sent before, perhaps by the first copy
--   0               refused: another task has the id
--   -1              not known ("again"): the first copy may have enqueued it, and it may have ended. Nothing is done
--   "<id>"          refused: that task has the unique key
--   "unknown <id>"  refused: there is no such parent in this queue, nor a record of it; or it comes in this call and is itself
--                   refused, or waits for this task
--   Short forms, where all tasks came on the common path: of one task 1, or 2 when a thread has it already; of several Redis's
--   clock in ms
--
-- What may fail:
--   failure                            consequence                          what the caller sends next
--   malformed arguments, id, options   error ERR; nothing is done           the corrected call
--     or envelope, or too many tasks
--   a task is refused                  the others are enqueued              nothing, or the task with another id or key
--   a right or a key's type is wrong   error NOPERM or WRONGTYPE; what      the same call, once that is mended
--                                      was made is removed
--   Redis is out of memory             error OOM; nothing is done           the same call, later
--   the reply is lost                  unknown: all of it may be done       the same tasks with "1" or "again"
--
-- A replacement moves the tasks that wait for the replaced one to the new one (lib/heirs.lua), at most @REPLACED_CHILDREN_MAX@;
-- with more, or where `after` names the replaced task, the new one is refused. Without `after` it waits for the parents of a
-- blocked one, at most @REPLACED_PARENTS_MAX@.
--
-- Sent twice: an id that exists is left alone. With "1" it counts as enqueued where its envelope is the one that the call
-- brings; so does a task that is gone and still has its unique key. With "again" a task that is not there is enqueued only
-- when no record of a task that ended since the first copy was sent can be gone: otherwise it may have run. A bulk insert that
-- got no place gets it then (lib/enqueue_repeat.lua).
--
-- Two paths. To make a function costs Redis's Lua as much as a small command, and a script makes its functions anew at each
-- call. The common path (tasks without options and with new ids, in a queue without groups and events) is made of steps, which
-- the build writes out; its first part makes no function. A step either does its work or changes nothing and says so; then
-- `rare` makes the functions of the careful path, which covers everything else. `next` in the hash `order` tells them apart:
-- lib/sequence.lua.

-- require: enqueue_plain, enqueue_several

local given, P = ARGV, KEYS[1]
if not P then return redis.error_reply('ERR @NAME@: KEYS[1] is missing') end
local way = given[1]
local seconds, millis = read_clock()
local is_plain, last, envelope = way == 'plain' or way == 'idle', nil, nil
-- How many tasks can come on the common path; nil: none.
local count

-- 1. One task, and `next` tells its place: nobody waits for it.
if is_plain and #given == 3 then
  local is_common = is_common_task(given[2], given[3])
  if is_common then count, envelope = 1, '{"at":' .. seconds .. millis .. ',' .. given[3] end
end
if count and way == 'plain' then
  last = call('HINCRBY', P .. 'order', 'next', '@SCORE_STEP@')
  if last > @SCORE_START@ then
    local reply
    if last < @SCORE_BAND@ then reply = insert_one(P, given[2], envelope, last) end
    if reply then return reply end
    count = nil
  end
end

-- Makes functions that are rarely needed, and calls one. now: ms, as text.
local function rare(what, P, now, ...)
-- require: hand
  if what == 'hand' then return hand_to_idle(P, now, ...) end
-- require: wake_one
  if what == 'wake' then return wake_one(P) end
-- require: bulk_insert
  if what == 'laid' then return place_packet(P, tonumber(now)) end
-- require: base
  -- In functions of their own, in which the names above are cheaper: see CONTRIBUTING.md.
  return (function(...)
-- require: foreign_key, options, sequence, transitions, enqueue_lists
    return (function(...)
-- require: enqueue_undo
      return enqueue_or_undo(...)
    end)(...)
  end)(P, ARGV, tonumber(now))
end

-- 2. One task, and somebody may wait for it: an idle thread gets it at once.
if count then
  local reply = rare('hand', P, seconds .. millis, given[2], envelope)
  if reply and reply ~= 'rare' then return reply end
  if reply then count = nil end
elseif is_plain and #given > 3 then
  count = count_common_ids(given)
end

-- 3. The tasks that come on the common path get their places: `last` is that of the last one.
if count and not last then
  last = call('HINCRBY', P .. 'order', 'next', count == 1 and '@SCORE_STEP@' or format('%d', @SCORE_STEP@ * count))
end
local is_first = count and last <= @SCORE_START@
if is_first then last = begin_places(P, count) end
if count and (not last or last >= @SCORE_BAND@) then count = nil end
if count and count > 1 then
  local are_new = are_new_tasks(P, given, count)
  if not are_new then count = nil end
end

-- 4. The first of them wake a thread, before they are there: where that is refused, none of them is.
if count and is_first then
  local has_token = save_first_place(P, last)
  if not has_token then rare('wake', P) end
end

-- 5. The tasks are written.
if count then
  local reply
  if count == 1 then
    reply = insert_one(P, given[2], envelope, last)
  else
    reply = insert_several(P, given, count, last, seconds, millis)
  end
  if reply then return reply end
end

-- 6. The careful path.
local bulk_reply = way == 'laid' and rare('laid', P, seconds .. millis)
return bulk_reply or rare('any', P, seconds .. millis)
