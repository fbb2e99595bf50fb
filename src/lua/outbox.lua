#!lua flags=allow-oom
-- outbox: the messages of a queue to other queues. A worker or a client carries them, and only then are they removed: a
-- message that is lost on the way is carried again, and takes effect once (lib/received.lua). Each message has a serial
-- number of its own.
--
--   R <n> <child> <parent> <policy>   a task here waits for one elsewhere: link.lua there; how that has ended, if it
--                                     has, is delivered here
--   U <n> <child> <parent>            it does not any more: link.lua there
--   E <n> <child> <parent> <state> <edge>   a task elsewhere is to hear how one of ours ended: deliver.lua there; edge
--                                     is the number of the message R that registered it
--   D <n> <child> <parent> <edge>     a task here does not read one elsewhere any more, which has completed: link.lua
--                                     there; edge: as above
--   M <n> <child> <parent> <edge> <id>   a task elsewhere waits for the task <id> of ours, or a handle, in place of
--                                     this one: deliver.lua there; edge: as above
--   V <n> <handle> <length> <options><envelope>   a task that was moved: arrive.lua there
--   T <n> <handle> <length> <options><rest>   a chained task: enqueue.lua there; length is that of the options
--
-- KEYS[1]  the prefix of the queue, <namespace>:{<queue>}:
-- ARGV     <positions> {<message>}
--            <positions>  <count>[ <skip>[ <misread>[ <back>[ <from>]]]], separated by blanks
--              <count>    how many messages the call returns at most; more than 1000 is 1000
--              <skip>     how many messages to pass over first: they stay, as their queues do not accept them now
--              <misread>  how many of the <message>s, the last ones, no carrier understood
--              <back>     how many messages of `unread` to put back first, at most; fewer where the outbox is long
--              <from>     only those with higher numbers than this
--            <message>    a message that was carried, or not understood. One that was not understood is set aside in
--                         the list `unread`, which keeps the last 1000
-- reply    [1] the floor: the lowest number of all messages, here and in `unread`; "0" when there are none to carry. No
--              message with a lower number will be carried: receivers may forget those (lib/received.lua). Behind it,
--              when messages were put back and more are left: a blank, and the number of the last of them
--          [2...] the first messages; fewer when they are large
--
-- Example: KEYS reeve:{mail}:  ARGV "10 0 1" "E 17 files/a mail/b completed 9" "Z 18 new"
--   reply  "18"   The message E 17 was carried and is removed; Z 18 was not understood and is in `unread`. No message
--                 is left to carry.
--
-- Both lists are in the order of their numbers, so that the first message has the lowest. In `unread`, messages without
-- a number are last, and are not put back.
--
-- Failure                              Consequence                             The caller sends next
-- the arguments are not as above       an error that begins with ERR;          correct arguments
--                                      nothing is written
-- Redis takes no writes                Redis's error; nothing is written       the same after a pause
-- the reply is lost                    all of it was done, or nothing          the same, with <back> 0
-- the caller dies with messages        they stay in `outbox`                   another caller carries them again
--
-- Safe to send twice: a message that was removed or put back is not there any more.

local call = redis.call
local NONE = 9007199254740992

-- NONE: the message has no number.
local function number_of(message)
  return math.min(tonumber(message and string.match(message, '^%S+ (%d+)')) or NONE, NONE)
end

-- The place of the first message of a list whose number is higher than this, if the list has `length` messages.
local function place_behind(list, number, length)
  local low, high = 0, length
  while low < high do
    local middle = math.floor((low + high) / 2)
    if number_of(call('LINDEX', list, middle)) <= number then low = middle + 1 else high = middle end
  end
  return low
end

local function insert(list, message)
  local number, length = number_of(message), call('LLEN', list)
  local place = length
  if number < number_of(call('LINDEX', list, -1)) then place = place_behind(list, number, length) end
  local behind = call('LINDEX', list, place)
  if behind then call('LINSERT', list, 'BEFORE', behind, message) else call('RPUSH', list, message) end
end

-- How messages are removed. LREM passes all that are before one: where many stay, a message is found by its number and
-- emptied, and one LREM removes all that are empty. Messages without a number go first, by LREM: the list is in order
-- then.
--   by_value  each is removed by LREM; missed: one was not found, so all are looked for by their numbers
--   emptied   place -> number of a message that was emptied; count: how many; last: the place of the last one
local function removal_of(list, skip)
  return {list = list, by_value = skip == 0, missed = false, emptied = {}, count = 0, length = nil, last = nil}
end

local function place_of(removal, message, number)
  removal.length = removal.length or call('LLEN', removal.list)
  local last = removal.last
  if last and call('LINDEX', removal.list, last + 1) == message then return last + 1 end
  local low, high = 0, removal.length - 1
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local there = not removal.emptied[middle] and call('LINDEX', removal.list, middle)
    local known = removal.emptied[middle] or number_of(there)
    if there == message then return middle end
    if known < number then low = middle + 1 else high = middle - 1 end
  end
end

-- False: the message is not there any more, or was not found. Where the list is not in order after all, LREM finds it.
local function remove(removal, message, number)
  local place = not removal.by_value and number < NONE and place_of(removal, message, number)
  if place then
    removal.emptied[place], removal.count, removal.last = number, removal.count + 1, place
    call('LSET', removal.list, place, '')
    return true
  end
  if removal.missed and not removal.by_value and number < NONE then return false end
  local is_removed = call('LREM', removal.list, 1, message) == 1
  if number < NONE then
    removal.by_value, removal.missed = is_removed, true
  end
  return is_removed
end

local function remove_emptied(removal)
  if removal.count == 0 then return end
  call('LREM', removal.list, removal.last < removal.length / 2 and removal.count or -removal.count, '')
end

local function set_aside(removal, unread, message, number)
  if not remove(removal, message, number) then return end
  insert(unread, message)
  call('LTRIM', unread, '-@OUTBOX_MAX@', '-1')
end

-- messages: ARGV, whose last `misread` were not understood.
local function remove_all(removal, unread, messages, misread)
  local first_misread = math.max(2, #messages - misread + 1)
  for i = first_misread, #messages do
    if number_of(messages[i]) == NONE then set_aside(removal, unread, messages[i], NONE) end
  end
  for i = 2, #messages do
    local number = number_of(messages[i])
    if i < first_misread then
      remove(removal, messages[i], number)
    elseif number < NONE then
      set_aside(removal, unread, messages[i], number)
    end
  end
  remove_emptied(removal)
end

-- To put a message between others Redis passes those before it. Returns the number of the last one that was put back
-- where more are left, or false.
local BACK_COST = 20000
local function put_back(outbox, unread, from, max)
  max = math.min(max, math.max(8, math.floor(BACK_COST / (call('LLEN', outbox) + 100))))
  local first, last = place_behind(unread, from, call('LLEN', unread)), nil
  for place = first, first + max do
    local message = call('LINDEX', unread, place)
    local number = number_of(message)
    if number == NONE or place == first + max then
      call('LREM', unread, 0, '')
      return number < NONE and last
    end
    insert(outbox, message)
    call('LSET', unread, place, '')
    last = number
  end
end

-- The first messages behind `skip`, of moderate size in all.
local function next_messages(outbox, skip, count)
  local messages, bytes = count > 0 and call('LRANGE', outbox, skip, skip + count - 1) or {}, 0
  for i = 1, #messages do
    bytes = bytes + #messages[i]
    if i > 1 and bytes > 4194304 then
      for j = #messages, i, -1 do messages[j] = nil end
      break
    end
  end
  return messages
end

-- The lowest number of all messages; NONE: there are none to carry.
local function floor_of(outbox, unread, skip, messages)
  if #messages == 0 then return NONE end
  local lowest = number_of(call('LINDEX', unread, 0))
  if skip > 0 then lowest = math.min(lowest, number_of(call('LINDEX', outbox, 0))) end
  for i = 1, #messages do lowest = math.min(lowest, number_of(messages[i])) end
  return lowest
end

local count, skip, misread, back, from = string.match(ARGV[1] or '', '^(%d+) ?(%d*) ?(%d*) ?(%d*) ?(%d*)$')
if not count or not KEYS[1] then return redis.error_reply('ERR @NAME@: ARGV[1] is up to five numbers') end
count, skip = math.min(tonumber(count), 1000), math.min(tonumber(skip) or 0, 4294967296)
misread, back, from = tonumber(misread) or 0, math.min(tonumber(back) or 0, 1000), tonumber(from) or -1

local outbox, unread = KEYS[1] .. 'outbox', KEYS[1] .. 'unread'
remove_all(removal_of(outbox, skip), unread, ARGV, misread)
local put = back > 0 and put_back(outbox, unread, from, back)
local messages = next_messages(outbox, skip, count)
local floor = floor_of(outbox, unread, skip, messages)
table.insert(messages, 1, (floor < NONE and string.format('%d', floor) or '0') .. (put and string.format(' %d', put) or ''))
return messages
