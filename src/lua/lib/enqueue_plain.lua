-- Steps of the common path of enqueue.lua: tasks without options.
--
-- requires: transitions_plain
-- gives: begin_places, call, find, format, insert_one, is_common_task, read_clock, save_last_place

local call, find, format = redis.call, string.find, string.format

-- Returns the time by Redis's clock, the only clock of the protocol: the seconds, and three digits of ms.
local function read_clock() -- inline
  local time = call('TIME')
  local micros = time[2]
  return time[1], #micros == 6 and string.sub(micros, 1, 3) or format('%03d', micros / 1000)
end

-- Whether the common path can take this task. To check each byte of an id is expensive, so an id that is as long as a
-- UUID is not checked. If it has bytes that an id may not have, the task is found to be malformed when it is read.
local function is_common_task(id, rest) -- inline
  return #rest <= @LARGE@ and find(rest, '\n', 1, true) and
    (#id == @UUID_BYTES@ or #id <= @ID_LENGTH_MAX@ and find(id, '^[%w._:-]+$'))
end

-- The place of the last of `count` tasks if `next` was absent. nil: the queue has groups, events or payload_max.
local function begin_places(P, count) -- inline
  local order = call('HMGET', P .. 'sequence', '0', 'groups', 'events', 'payload_max')
  if order[2] or order[3] or order[4] then return nil end
  return (tonumber(order[1]) or @SCORE_START@) + @SCORE_STEP@ * count
end

-- Stores the last place. If there is a token in `wake`, no thread has to be woken: the place goes into `next`, which
-- exists from now on. Else it goes into `0`, the field of priority 0. Returns whether there is a token.
local function save_last_place(P, last) -- inline
  local has_token = call('LLEN', P .. 'wake') > 0
  call('HSET', P .. 'sequence', has_token and 'next' or '0', format('%d', last))
  return has_token
end

-- Writes one task. Returns 1; an error, and nothing is changed; or nil, if a task has the id.
local function insert_one(P, id, envelope, last) -- inline
  local tasks = P .. 'tasks'
  if call('HSETNX', tasks, id, envelope) == 0 then return nil end
  local added = try_enter_ready_one(P, id, format('%d', last))
  if added == 1 or added == 0 then return 1 end
  redis.pcall('HDEL', tasks, id)
  return added
end
