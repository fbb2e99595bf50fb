#!lua flags=allow-oom
-- outbox: messages of a queue to others. Whoever has the time carries them, and only then are they taken out: what is
-- lost on the way is carried again, and counts once (lib/received.lua). Each has a serial number of its own.
--
--   R <n> <child> <parent> <policy>   a task here waits for one elsewhere: link.lua there; how that has ended, if it
--                                     has, is delivered here
--   U <n> <child> <parent>            it does not any more: link.lua there
--   E <n> <child> <parent> <state> <edge>   a task elsewhere is to hear how one of ours ended: deliver.lua there; edge is
--                                     the number of the message R that registered it
--   D <n> <child> <parent> <edge>     a task here does not read one elsewhere any more, which has completed: link.lua
--                                     there; edge: as above
--   M <n> <child> <parent> <edge> <id>   a task elsewhere waits for the task <id> of ours in place of this one: deliver.lua
--                                     there; edge: as above
--   T <n> <handle> <length> <options><rest>   a task handed on: enqueue.lua there; length is that of the options
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many to return at most (of more than 1000 1000); then, behind blanks, how many to pass over, which stay as
--          their queues do not take them now; how many of the arguments below, the last ones, were not understood; and
--          how many of `unread` to put back first, at most (fewer where the outbox is long); of those whose numbers are
--          higher than the next number says, if it is there
-- ARGV[2...] messages that were carried, or not understood: these are set aside in the list `unread`, the last 1000 of them
-- reply    [1] the floor: the lowest number of all messages, here and in `unread`; "0" when there are none to carry. No
--          message below it will ever be carried: those that receive may forget those (lib/received.lua). Behind it,
--          when some were put back and there are more: a blank, and the number of the last of them
--          [2...] the first messages; fewer when they are large
--
-- Both lists are in the order of their numbers, so that the first ones have the lowest; in `unread` what has no number
-- stands last, and is not put back.
--
-- Sent twice: what was taken out, or put back, is not there any more.

local call = redis.call
local count, skip, misread, back, from = string.match(ARGV[1] or '', '^(%d+) ?(%d*) ?(%d*) ?(%d*) ?(%d*)$')
if not count or not KEYS[1] then return redis.error_reply('ERR @NAME@: ARGV[1] is up to five numbers') end
local outbox, unread = KEYS[1] .. 'outbox', KEYS[1] .. 'unread'
count, skip = math.min(tonumber(count), 1000), math.min(tonumber(skip) or 0, 4294967296)
misread = tonumber(misread) or 0
back, from = math.min(tonumber(back) or 0, 1000), tonumber(from) or -1

local NONE = 9007199254740992
local function number_of(message)
  return math.min(tonumber(message and string.match(message, '^%S+ (%d+)')) or NONE, NONE)
end

local function insert(list, message)
  local number, low, high = number_of(message), 0, call('LLEN', list)
  if number >= number_of(call('LINDEX', list, -1)) then low = high end
  while low < high do
    local middle = math.floor((low + high) / 2)
    if number_of(call('LINDEX', list, middle)) <= number then low = middle + 1 else high = middle end
  end
  local behind = call('LINDEX', list, low)
  if behind then call('LINSERT', list, 'BEFORE', behind, message) else call('RPUSH', list, message) end
end

-- Messages go. LREM passes all that stand before one: where many stay, a message is found by its number and marked, and one
-- LREM takes out all that are. What has no number goes first, by LREM: the list is in order then.
local by_value, missed, flagged, marks, length, last = skip == 0, false, {}, 0, nil, nil

local function place_of(message, number)
  length = length or call('LLEN', outbox)
  if last and call('LINDEX', outbox, last + 1) == message then return last + 1 end
  local low, high = 0, length - 1
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local there = not flagged[middle] and call('LINDEX', outbox, middle)
    local known = flagged[middle] or number_of(there)
    if there == message then return middle end
    if known < number then low = middle + 1 else high = middle - 1 end
  end
end

-- False: it is not there any more, or not found. (After one that is not, all are looked for by their numbers; where the list
-- is not in order after all, by LREM.)
local function take_out(message, number)
  local place = not by_value and number < NONE and place_of(message, number)
  if place then
    flagged[place], marks, last = number, marks + 1, place
    call('LSET', outbox, place, '')
    return true
  end
  if missed and not by_value and number < NONE then return false end
  local hit = call('LREM', outbox, 1, message) == 1
  if number < NONE then
    by_value, missed = hit, true
  end
  return hit
end

local function set_aside(message, number)
  if not take_out(message, number) then return end
  insert(unread, message)
  call('LTRIM', unread, '-@OUTBOX_MAX@', '-1')
end

local first_misread = math.max(2, #ARGV - misread + 1)
for i = first_misread, #ARGV do
  if number_of(ARGV[i]) == NONE then set_aside(ARGV[i], NONE) end
end
for i = 2, #ARGV do
  local number = number_of(ARGV[i])
  if i < first_misread then
    take_out(ARGV[i], number)
  elseif number < NONE then
    set_aside(ARGV[i], number)
  end
end
if marks > 0 then call('LREM', outbox, last < length / 2 and marks or -marks, '') end
-- To put one between others Redis passes those that are before it.
local BACK_COST = 20000
local function put_back(most)
  local low, high, last = 0, call('LLEN', unread), nil
  most = math.min(most, math.max(8, math.floor(BACK_COST / (call('LLEN', outbox) + 100))))
  while low < high do
    local middle = math.floor((low + high) / 2)
    if number_of(call('LINDEX', unread, middle)) <= from then low = middle + 1 else high = middle end
  end
  for place = low, low + most do
    local message = call('LINDEX', unread, place)
    local number = number_of(message)
    if number == NONE or place == low + most then
      call('LREM', unread, 0, '')
      return number < NONE and last
    end
    insert(outbox, message)
    call('LSET', unread, place, '')
    last = number
  end
end
local put = back > 0 and put_back(back)

local messages, bytes = count > 0 and call('LRANGE', outbox, skip, skip + count - 1) or {}, 0
for i = 1, #messages do
  bytes = bytes + #messages[i]
  if i > 1 and bytes > 4194304 then
    for j = #messages, i, -1 do messages[j] = nil end
    break
  end
end
local lowest = #messages > 0 and number_of(call('LINDEX', unread, 0)) or NONE
if #messages > 0 and skip > 0 then lowest = math.min(lowest, number_of(call('LINDEX', outbox, 0))) end
for i = 1, #messages do lowest = math.min(lowest, number_of(messages[i])) end
table.insert(messages, 1, (lowest < NONE and string.format('%d', lowest) or '0') ..
  (put and string.format(' %d', put) or ''))
return messages
