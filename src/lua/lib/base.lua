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

-- The latest time: larger whole numbers are not exact in Lua.
local LATEST = @LATEST@

-- Redis's own clock, in milliseconds since the epoch: the only clock of the protocol.
local function clock()
  local t = call('TIME')
  return t[1] * 1000 + (t[2] - t[2] % 1000) / 1000
end

-- Decodes JSON. Returns a table if it is an object or an array, else nil. Never raises an error.
local function decoded(json)
  local good, value = pcall(cjson.decode, json)
  return good and type(value) == 'table' and value or nil
end

-- Producers may write times up to this number. A time after LATEST counts as LATEST.
local INT64 = 9223372036854775808

-- Whether a field is absent, or a whole number in a range. NaN is in no range; cjson.null is no number.
local function is_whole(value, min, max)
  return value == nil or type(value) == 'number' and value >= min and value <= max and value % 1 == 0
end

-- The value of a setting as a whole number of at least `min`, or false.
local function number_of(value, min)
  value = tonumber(value)
  return value and is_whole(value, min, LATEST) and value or false
end

local function is_text(value, min, max)
  return value == nil or type(value) == 'string' and #value >= min and #value <= max
end

-- The value of a field that counts; 0 if another program wrote something else into it.
local function count_of(value)
  value = tonumber(value)
  return is_whole(value, 0, LATEST) and value or 0
end

-- Returns an error text unless a field is absent, or an array of at most `most` texts of 1 to `max` bytes.
local function texts_fault(list, name, max, most)
  local left = most
  for i, one in pairs(list == nil and {} or type(list) == 'table' and list or {false}) do
    left = type(i) == 'number' and is_text(one, 1, max) and not one:find('%z') and left - 1 or -1
    if left < 0 then return 'its ' .. name .. ' are not an array of at most ' .. most .. ' texts' end
  end
end

local function whole_fault(value, name, min, max)
  if not is_whole(value, min, max) then return 'its ' .. name .. ' is not a whole number from ' .. min .. ' to ' .. max end
end

local function text_fault(value, name, max)
  if not is_text(value, 1, max) then return 'its ' .. name .. ' is not a text of 1 to ' .. max .. ' bytes' end
end

-- Checks the fields that scripts read of a header, or of the options of an enqueue. Returns an error text, or nil.
local function field_fault(o)
  local fault = whole_fault(o.priority, 'priority', @PRIORITY_MIN@, @PRIORITY_MAX@) or text_fault(o.group, 'group', @GROUP_MAX@) or
    whole_fault(o.weight, 'weight', 1, @TASK_WEIGHT_MAX@) or whole_fault(o.cost, 'cost', 1, @COST_MAX@) or
    text_fault(o.unique, 'unique key', @UNIQUE_MAX@)
  if fault then return fault end
  if not is_whole(o.unique_for, 1, INT64) then return 'its unique_for is not a number of milliseconds' end
  if o['until'] ~= nil and (o['until'] ~= 'started' or not o.unique) then
    return 'its until is not "started", or it has no unique key'
  end
  if not is_text(o.on_dead, 0, @TYPE_MAX@) or o.on_dead and find(o.on_dead, '[^%w._:/-]') then
    return 'its on_dead is not a type'
  end
  return text_fault(o.of, 'of', @ID_LENGTH_MAX@) or texts_fault(o.tags, 'tags', @TAG_MAX@, @TAGS_MAX@) or
    texts_fault(o.limit_keys, 'limit_keys', @LIMIT_KEY_MAX@, @LIMIT_KEYS_MAX@)
end

-- Other characters have other meanings: '#' begins the fields of running:<session> that are no leases, '+' begins the
-- member of a segment in `ready`, and blanks and newlines separate ids in lists.
local ID_FAULT = 'its id does not have 1 to @ID_LENGTH_MAX@ of the characters A-Z a-z 0-9 . _ - :'
local function is_id(id)
  return #id <= @ID_LENGTH_MAX@ and find(id, '^[%w._:-]+$') ~= nil
end

-- Whether the first byte shows that this is no id, for instance '#' or '+'. Takes few instructions.
local function is_no_id(id)
  return (byte(id) or 0) < @ID_BYTE_MIN@
end

-- Returns the type of a task from its header, as a worker reads it: behind the marks, "at", "p" and "deadline", in this
-- order; or nil.
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

-- Decoding a longer header would block Redis for too long.
local HEADER_MAX = @HEADER_MAX@

-- Parses the header of an envelope, its first line. Returns a table of its fields, in which those that scripts read are
-- absent or valid; or, if the envelope is malformed, a table with the one field `malformed`, an error text. id: the id
-- of the task, which is checked, too; nil: it is not. Never raises an error: envelopes may come from producers that do
-- not use these scripts.
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
  o.malformed = nil
  if o.unique_for then o.unique_for = min(o.unique_for, LATEST) end
  return o
end

-- An envelope with the mark "info" begins with {"info":1, any other with {"at":. The mark means that the hash info:<id>
-- has more data of the task.
local INFO = @INFO_BYTE@ -- 'i'
local function has_info(envelope)
  return byte(envelope, 3) == INFO
end
-- Adds the mark to an envelope. An envelope that is no JSON object is not changed.
local function mark_info(P, id, envelope)
  if not has_info(envelope) and sub(envelope, 1, 2) == '{"' then
    call('HSET', P .. 'tasks', id, '{"info":1,' .. sub(envelope, 2))
  end
end

-- The number p of the segment in which a task was enqueued (lib/segment.lua), or nil. The members of segments in
-- `ready` begin with '+'.
local SEGMENT = @SEGMENT_BYTE@
local function segment_of(envelope)
  return match(envelope, '^{[%w":,]-"at":%d+,"p":(%d+),')
end

-- If a queue has, or had, an envelope of more bytes, settings.large is set. Calls that read many envelopes then also
-- limit the bytes that they read. Other queues pay nothing for that.
local LARGE = @LARGE@


-- Publishes a notice of a queue. It cannot fail: a user without rights to the channel (Redis 7 gives a new user none)
-- or to PUBLISH can still change tasks. settings.unsent is then set to the time. While it is set (maintain.lua removes
-- it after an hour), workers and clients that wait for notices poll every second.
local function publish(P, channel, message)
  local heard = redis.pcall('PUBLISH', channel, message)
  if type(heard) == 'table' then redis.pcall('HSET', P .. 'settings', 'unsent', text(clock())) end
end

-- Publishes a notice "<verb> <queue> <words>" to all workers.
local function publish_control(P, verb, words)
  local ns, queue = match(P, '^(.*):{(.*)}:$')
  if ns then publish(P, ns .. ':control', verb .. ' ' .. queue .. ' ' .. words) end
end

-- Notifies the schedulers of all workers that this queue has work at a time that they may not know. due: ms; 0: now.
local function announce_due(P, due)
  publish_control(P, 'due', text(due))
end
