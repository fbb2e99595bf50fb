-- The common path of leasing: tasks whose envelopes are not marked (has_info in lib/base.lua), of a queue without
-- limits, events and large envelopes, by a session that exists there. lib/lease.lua has the careful path, for
-- everything else ("Two paths" in turn.lua). In the names of this file such tasks are plain.
--
--   segment  tasks that were enqueued together: a list of their ids, segment:<p>, and one member "+<p>" of `ready` with
--            the score of the first task; each other task is SCORE_STEP behind the one before it (lib/segment.lua)
--
-- requires: shortcuts, transitions_plain, turn_settings
-- gives: head_of, lease_plain

-- Returns the first ids of `ready`, one more than are wanted: it shows whether another thread is to be woken. If the
-- first member is a segment, three members suffice. Returns false if the careful path is needed.
local function head_of(P, want, want_text, settings) -- inline
  if settings[LARGE_TASKS] or settings[IN_FORCE] then return false end
  if want <= 2 then return call('ZRANGE', P .. 'ready', '0', want_text) end
  local ids = call('ZRANGE', P .. 'ready', '0', '2')
  if ids[3] and byte(ids[1]) ~= @SEGMENT_BYTE@ then return call('ZRANGE', P .. 'ready', '0', want_text) end
  return ids
end

-- Reads up to `want` ids from the segments at the head of `ready`: from the first one, and then from the second one if
-- that follows. It reads one id more, which shows whether that segment has ids left. Returns the ids; whether more
-- tasks are behind them; the segment from which the last ids are; whether that has ids left; the first segment and how
-- many ids are its own, if all of them are read and the second one is used, else nil and 0; and whether the common path
-- can go on. It can if there are as many as are wanted or nothing is behind them, and no single task comes between them
-- by its score. Nothing is taken out of a segment yet, because Redis may refuse to read what else is needed.
local function head_of_segments(P, members, want, want_text) -- inline
  local segment, behind, third, used_up, from_first = members[1], members[2], members[3], nil, 0
  local ids = call('LRANGE', P .. 'segment:' .. sub(segment, 2), '0', want_text)
  local is_plain = #ids > 0
  if is_plain and #ids < want and behind and byte(behind) == @SEGMENT_BYTE@ then
    used_up, from_first = segment, #ids
    segment, behind = behind, third
    local others = call('LRANGE', P .. 'segment:' .. sub(segment, 2), '0', format('%d', want - from_first))
    for i = 1, #others do ids[from_first + i] = others[i] end
  end
  local left = #ids > want
  ids[want + 1] = nil
  is_plain = is_plain and (#ids == want or not behind)
  if is_plain and behind and byte(behind) ~= @SEGMENT_BYTE@ then
    is_plain = call('ZSCORE', P .. 'ready', behind) - call('ZSCORE', P .. 'ready', segment) >
      @SCORE_STEP@ * (want - 1 - from_first)
  end
  return ids, left or behind, segment, left, used_up, from_first, is_plain
end

-- Reads the envelopes of ids. Returns the list of the reply, {index, id, envelope, ...}; the fields and values of HSET
-- that lease the tasks, if they are several; and whether no envelope is marked. A segment among the ids has no
-- envelope. An envelope begins with {"at": or, if it is marked, with {"info":1, and every id begins with '-' or a later
-- byte.
local function read_plain(P, index, ids, lease) -- inline
  local tasks, taken, n, is_plain = P .. 'tasks', #ids, 0, true
  local envelopes = taken > 1 and call('HMGET', tasks, unpack(ids)) or call('HMGET', tasks, ids[1])
  local leased, leases
  -- A table that gets its first element grows, unless it was made with room for it.
  if taken == 1 then leased = {index, ids[1], envelopes[1], nil} else leases, leased = {}, {index} end
  for i = 1, taken do
    local id, envelope = ids[i], envelopes[i]
    if not envelope then
      is_plain = false
    elseif by_bytes then
      if id < '-' or envelope >= '{"b' or envelope < '{"a' then is_plain = false end
    elseif byte(envelope, 3) == @INFO_BYTE@ or (byte(id) or 0) < @ID_BYTE_MIN@ then
      is_plain = false
    end
    if leases then
      -- One by one: this costs a third less than all in one assignment.
      leases[n + 1] = id
      leased[n + 3] = envelope
      n = n + 2
      leases[n] = lease
      leased[n] = id
    end
  end
  return leased, leases, is_plain
end

-- Removes the leased tasks from `ready`, or from the segments that they are in. If Redis refuses that, none of them has
-- left, and its error is returned, a table. In segments the ids leave the list first. If Redis refuses a command behind
-- that, the call ends with its error, and the tasks are leased; recover.lua returns them. Then a segment is still in
-- `ready`, without ids or before the place of its first task; a later lease removes it or moves it on. A segment leaves
-- the set `segments` before `ready`, so that what stays behind is in `ready`, where a lease finds it.
local function leave_ready(P, want, want_text, taken, more, segment, left, used_up, from_first) -- inline
  if not segment then
    return try_leave_ready_first(P, taken == 1 and '0' or more and format('%d', taken - 1) or '-1')
  end
  local list, cut = P .. 'segment:' .. sub(segment, 2), nil
  -- For one task LPOP costs less than half of LTRIM: it has fewer arguments, and its reply is no table.
  if taken == 1 and not used_up then
    cut = redis.pcall('LPOP', list)
  else
    cut = redis.pcall('LTRIM', list, used_up and format('%d', want - from_first) or want_text, '-1')
  end
  if type(cut) == 'table' and cut.err then return cut end
  if used_up then
    call('LTRIM', P .. 'segment:' .. sub(used_up, 2), '1', '0')
    leave_ready_segment(call, P, used_up, sub(used_up, 2))
  end
  if left then
    local step = taken == 1 and '@SCORE_STEP@' or format('%d', @SCORE_STEP@ * (taken - from_first))
    move_ready_segment(call, P, segment, step)
  else
    leave_ready_segment(call, P, segment, sub(segment, 2))
  end
end

-- Leases the tasks at the head of `ready`; ids: its first members, from head_of. names: for each task to lease, the
-- name of the thread that it is for, behind `dealt` others; nil: all are for `thread`. Returns the list of the reply,
-- how many tasks it has, and whether more are behind them. Returns nil, and nothing is changed, if the careful path is
-- needed. If Redis refuses the leases, the fourth value is its error, which ends the call.
local function lease_plain(P, index, running, ids, want, want_text, now, thread, session_stands, names, dealt) -- inline
  if not session_stands and call('HEXISTS', running, '#') == 0 then return nil end
  local leased, leases, more, segment, left, used_up, fault
  local from_first, is_plain, lease = 0, true, now .. ' ' .. thread
  if byte(ids[1]) == @SEGMENT_BYTE@ then
    ids, more, segment, left, used_up, from_first, is_plain = head_of_segments(P, ids, want, want_text)
  else
    more = #ids > want
    ids[want + 1] = nil
  end
  if is_plain then leased, leases, is_plain = read_plain(P, index, ids, lease) end
  if not is_plain then return nil end
  if names then lease = now .. ' ' .. names[dealt + 1] end
  if names and leases then
    for i = 1, #ids do leases[2 * i] = now .. ' ' .. names[dealt + i] end
  end
  -- The leases are written before the tasks leave `ready`, so that no task is without a state in between.
  if leases then fault = try_enter_running_all(running, leases) else fault = try_enter_running_one(running, ids[1], lease) end
  if type(fault) ~= 'number' then return nil, 0, false, fault end
  local taken = #ids
  fault = leave_ready(P, want, want_text, taken, more, segment, left, used_up, from_first)
  if type(fault) == 'table' then
    -- All of them stay ready; with these leases they would run twice.
    try_leave_running_all(running, ids)
    return nil, 0, false, fault
  end
  return leased, taken, more
end
