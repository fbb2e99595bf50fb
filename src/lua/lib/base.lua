-- gives: ID_FAULT, INT64, LARGE, LATEST, SEGMENT, announce_due, byte, call, clock, count_of, decoded, field_fault, find
-- gives: has_info, header, is_id, is_no_id, is_whole, mark_info, number_of, segment_of, publish, publish_control
-- gives: match, max, min, sub, text, tonumber, type, unpack
-- fields: malformed

-- Local names are faster than global ones, and shorter in what is sent.
local call, tonumber, type, unpack = redis.call, tonumber, type, unpack
local byte, sub, find, match = string.byte, string.sub, string.find, string.match
local max, min = math.max, math.min

-- A whole number as text. Numbers go to Redis this way: left to itself, Lua prints them as floating point, slowly.
local function text(number)
  return string.format('%d', number)
end

-- The latest time there is: beyond it numbers are not whole any more.
local LATEST = @LATEST@

-- Redis's own clock, in milliseconds since the epoch: the only clock of the protocol.
local function clock()
  local t = call('TIME')
  return t[1] * 1000 + (t[2] - t[2] % 1000) / 1000
end

-- What JSON says, where that is an object or an array; else nil. Never raises.
local function decoded(json)
  local good, value = pcall(cjson.decode, json)
  return good and type(value) == 'table' and value or nil
end

-- Producers may write times that are as long as a number of theirs can be: more than LATEST is LATEST.
local INT64 = 9223372036854775808

-- Is a field absent, or a whole number in a range? (NaN is in none; cjson.null is no number.)
local function is_whole(value, min, max)
  return value == nil or type(value) == 'number' and value >= min and value <= max and value % 1 == 0
end

-- The whole number that a setting says, or false.
local function number_of(value, min)
  value = tonumber(value)
  return value and is_whole(value, min, LATEST) and value or false
end

local function is_text(value, min, max)
  return value == nil or type(value) == 'string' and #value >= min and #value <= max
end

-- What a field that counts says, also when somebody wrote something else into it.
local function count_of(value)
  value = tonumber(value)
  return is_whole(value, 0, LATEST) and value or 0
end

local function are_tags(tags)
  local count = 0
  for i, tag in pairs(type(tags) == 'table' and tags or {false}) do
    if type(i) ~= 'number' or not tag or not is_text(tag, 1, @TAG_MAX@) then return false end
    count = count + 1
  end
  return count <= @TAGS_MAX@
end

-- What is wrong with those fields of a header, or of the options of an enqueue, that scripts read; or nil.
local function field_fault(o)
  if not is_whole(o.priority, @PRIORITY_MIN@, @PRIORITY_MAX@) then
    return 'its priority is not a whole number from @PRIORITY_MIN@ to @PRIORITY_MAX@'
  end
  if not is_text(o.group, 1, @GROUP_MAX@) then return 'its group is not a text of 1 to @GROUP_MAX@ bytes' end
  if not is_whole(o.weight, 1, @TASK_WEIGHT_MAX@) then return 'its weight is not a whole number from 1 to @TASK_WEIGHT_MAX@' end
  if not is_text(o.unique, 1, @UNIQUE_MAX@) then return 'its unique key is not a text of 1 to @UNIQUE_MAX@ bytes' end
  if not is_whole(o.unique_for, 1, INT64) then return 'its unique_for is not a number of milliseconds' end
  if o['until'] ~= nil and (o['until'] ~= 'started' or not o.unique) then
    return 'its until is not "started", or it has no unique key'
  end
  if not is_text(o.on_dead, 0, @TYPE_MAX@) or o.on_dead and find(o.on_dead, '[^%w._:/-]') then
    return 'its on_dead is not a type'
  end
  if not is_text(o.of, 1, @ID_LENGTH_MAX@) then return 'its of is not an id' end
  if o.tags ~= nil and not are_tags(o.tags) then return 'its tags are not an array of at most @TAGS_MAX@ texts' end
end

-- Beside it: '#' begins what a session's hash has about the session, '+' a segment in `ready`; blanks and line ends
-- part ids in lists of them.
local ID_FAULT = 'its id does not have 1 to @ID_LENGTH_MAX@ of the characters A-Z a-z 0-9 . _ - :'
local function is_id(id)
  return #id <= @ID_LENGTH_MAX@ and find(id, '^[%w._:-]+$') ~= nil
end

-- Whether it begins as none does, which would harm others: few instructions.
local function is_no_id(id)
  return (byte(id) or 0) < @ID_BYTE_MIN@
end

-- Where the type of a header stands, as the worker reads it: behind the marks, "at", "p" and "deadline".
local function type_of(line)
  local kind = match(line, '^{"at":%d+,"type":"([%w._:/-]+)"')
  if kind then return kind end
  local rest = match(line, '^{"info":1,(.*)$') or sub(line, 2)
  rest = match(rest, '^"cancel":1,(.*)$') or rest
  rest = byte(line) == 123 and match(rest, '^"at":%d+,(.*)$') or ''
  rest = match(rest, '^"p":%d+,(.*)$') or rest
  rest = match(rest, '^"deadline":%d+,(.*)$') or rest
  return match(rest, '^"type":"([%w._:/-]+)"')
end

-- Decoding is to take Redis no longer than a moment.
local HEADER_MAX = @HEADER_MAX@

-- An envelope's header (its first line): those of its fields that scripts read, each of them absent or of its type and
-- in its range. Of an envelope that is not understood nothing but `malformed`, which says why; id: that of the task, to
-- be looked at, too. Never raises: envelopes may come from producers that do not use these scripts.
local function header(envelope, id)
  if id and not is_id(id) then
    return {malformed = ID_FAULT}
  end
  local line_end = find(envelope, '\n', 1, true)
  if not line_end then return {malformed = 'no line of it ends, so it has no header'} end
  if line_end > HEADER_MAX then return {malformed = 'its header has more than @HEADER_MAX@ bytes'} end
  local line = sub(envelope, 1, line_end - 1)
  local o, kind = decoded(line), type_of(line)
  if not o then return {malformed = 'its header is not a JSON object'} end
  if o.spoilt then return {malformed = 'its info:<id> or parents:<id> had another type'} end
  if not kind or #kind > @TYPE_MAX@ or kind ~= o.type or not is_whole(o.at, 0, LATEST) or
    not is_whole(o.deadline, 0, LATEST) then
    return {malformed = 'its header does not begin with {"at":<ms>,"type":"<type>"'}
  end
  local fault = field_fault(o)
  if fault then return {malformed = fault} end
  return {at = o.at, type = o.type, priority = o.priority, group = o.group, weight = o.weight, unique = o.unique,
    ['until'] = o['until'], unique_for = o.unique_for and min(o.unique_for, LATEST), on_dead = o.on_dead, of = o.of, tags = o.tags}
end

-- An envelope that says "look into info:<id>, too" starts with {"info":1, and any other with {"at":
local INFO = @INFO_BYTE@ -- 'i'
local function has_info(envelope)
  return byte(envelope, 3) == INFO
end
-- What is no JSON object keeps its bytes.
local function mark_info(P, id, envelope)
  if not has_info(envelope) and sub(envelope, 1, 2) == '{"' then
    call('HSET', P .. 'tasks', id, '{"info":1,' .. sub(envelope, 2))
  end
end

-- The segment in which a task came, if it did (lib/segment.lua), whose members of `ready` begin with '+'.
local SEGMENT = @SEGMENT_BYTE@
local function segment_of(envelope)
  return match(envelope, '^{[%w":,]-"at":%d+,"p":(%d+),')
end

-- A queue that ever held an envelope of this many bytes says so in settings.large; calls that read many envelopes then
-- bound themselves by bytes, too. Costs nothing elsewhere.
local LARGE = @LARGE@


-- Sends a notice of a queue. It cannot fail: a user without rights to the channel (Redis 7 gives a new user none) or to
-- PUBLISH changes tasks all the same. settings.unsent is then the time; while it is there (maintain.lua), workers and
-- clients that wait for notices look every second.
local function publish(P, channel, message)
  local heard = redis.pcall('PUBLISH', channel, message)
  if type(heard) == 'table' then redis.pcall('HSET', P .. 'settings', 'unsent', text(clock())) end
end

-- Sends a notice "<verb> <queue> <words>" to all workers.
local function publish_control(P, verb, words)
  local ns, queue = match(P, '^(.*):{(.*)}:$')
  if ns then publish(P, ns .. ':control', verb .. ' ' .. queue .. ' ' .. words) end
end

-- Tells the schedulers of all workers that something of this queue is due at a time they may not know of.
local function announce_due(P, due)
  publish_control(P, 'due', text(due))
end
