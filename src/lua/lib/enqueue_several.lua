-- Steps of the common path of enqueue.lua for several tasks.
--
-- requires: enqueue_plain, transitions_plain
-- gives: are_new_tasks, count_common_ids, insert_several

-- The number of tasks. nil: the arguments do not fit, there are too many tasks, or an id is malformed. An id that is as
-- long as a UUID is not checked, as in is_common_task.
local function count_common_ids(given) -- inline
  local count = (#given - 1) / 2
  if count % 1 > 0 or count > @ENQUEUE_MAX@ then return nil end
  for i = 2, count + 1 do
    local id = given[i]
    if #id ~= @UUID_BYTES@ and (#id > @ID_LENGTH_MAX@ or not find(id, '^[%w._:-]+$')) then count = nil break end
  end
  return count
end

-- Whether no task has one of the ids, and no envelope is large.
local function are_new_tasks(P, given, count) -- inline
  local known, are_new = call('HMGET', P .. 'tasks', unpack(given, 2, count + 1)), true
  for i = 1, count do
    if known[i] or #given[count + 1 + i] > @LARGE@ then are_new = false end
  end
  return are_new
end

-- Returns p of the segment for these tasks (lib/segment.lua), and whether they join an existing one. They join the
-- newest segment if no other task was enqueued since and it has room; else they get a new one. nil: too few or too many
-- tasks; they become single members of `ready`. The number of segments is limited, because scripts that read a queue in
-- pages pass all segments. before: the place before the first task.
local function segment_for(P, count, before) -- inline
  if count < @SEGMENT_MIN@ or count > @SEGMENT_MAX@ then return nil, false end
  local newest, tail = string.match(call('HGET', P .. 'sequence', 'segment') or '', '^(%d+) (%d+)$')
  local joins = newest and tonumber(tail) == before and call('ZSCORE', P .. 'ready', '+' .. newest) and
    call('LLEN', P .. 'segment:' .. newest) <= @SEGMENT_MAX@ - count
  if joins then return newest, true end
  local p = format('%d', (before - @SCORE_START@) / @SCORE_STEP@)
  if call('EXISTS', P .. 'segment:' .. p) == 1 or
    count < @SEGMENT_MANY@ and call('SCARD', P .. 'segments') >= @SEGMENTS_MAX@ then return nil, false end
  return p, false
end

-- Appends the ids to the segment, and adds a new segment to `ready`. Returns a number; or an error, and then no new
-- segment exists.
local function fill_segment(P, given, count, p, joins, before) -- inline
  local list = P .. 'segment:' .. p
  local added = redis.pcall('RPUSH', list, unpack(given, 2, count + 1))
  if joins or type(added) ~= 'number' then return added end
  added = redis.pcall('SADD', P .. 'segments', p)
  if type(added) == 'number' then added = try_enter_ready_one(P, '+' .. p, format('%d', before + @SCORE_STEP@)) end
  if type(added) ~= 'number' then
    redis.pcall('UNLINK', list)
    redis.pcall('SREM', P .. 'segments', p)
  end
  return added
end

-- Writes the tasks. last: the place of the last one. Returns Redis's clock in ms; or an error, or nil if the call
-- contains an id twice: then none of the tasks exists.
local function insert_several(P, given, count, last, seconds, millis) -- inline
  local tasks, new, n, ready = P .. 'tasks', {}, 0, nil
  local before, stamp = last - @SCORE_STEP@ * count, '{"at":' .. seconds .. millis .. ','
  local p, joins = segment_for(P, count, before)
  if p then stamp = stamp .. '"p":' .. p .. ',' else ready = {} end
  for i = 2, count + 1 do
    new[n + 1], new[n + 2] = given[i], stamp .. given[count + i]
    if ready then ready[n + 1], ready[n + 2] = format('%d', before + @SCORE_STEP@ * (i - 1)), given[i] end
    n = n + 2
  end
  if call('HSET', tasks, unpack(new)) < count then
    call('HDEL', tasks, unpack(given, 2, count + 1))
    return nil
  end
  local added
  if p then added = fill_segment(P, given, count, p, joins, before) else added = try_enter_ready_all(P, ready) end
  if type(added) ~= 'number' then
    redis.pcall('HDEL', tasks, unpack(given, 2, count + 1))
    return added
  end
  if p then call('HSET', P .. 'sequence', 'segment', p .. ' ' .. format('%d', last)) end
  return seconds * 1000 + millis
end
