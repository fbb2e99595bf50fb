-- The common path of leasing: plain tasks, whose envelopes have nothing to tell beyond themselves, of a queue without limits,
-- events and large envelopes, by a session that has begun there. lib/lease.lua has the careful path, for all the rest.
--
-- requires: shortcuts, transitions_plain, turn_settings
-- gives: head_of, lease_plain

-- The first ids of `ready`, one more than are wanted: then it is known whether another thread is to be woken. Where the first
-- member is a segment (lib/segment.lua), the next two members suffice. false where the careful path is needed.
local function head_of(P, want, want_text, settings) -- inline
  if settings[LARGE_TASKS] or settings[IN_FORCE] then return false end
  if want <= 2 then return call('ZRANGE', P .. 'ready', '0', want_text) end
  local ids = call('ZRANGE', P .. 'ready', '0', '2')
  if ids[3] and byte(ids[1]) ~= @SEGMENT_BYTE@ then return call('ZRANGE', P .. 'ready', '0', want_text) end
  return ids
end

-- Reads up to `want` ids of the segments at the head of `ready`: of the first one, and of the second one behind it; one more
-- tells whether a segment has others left. Returns the ids; whether more stand behind them; the member of `ready` whose tasks
-- are taken last, and whether it has any left; the first member and how many of the ids are its own, where it is used up, else
-- nil and 0; and whether the path is still the common one: what is wanted is there, or all there is, and no other task stands
-- between them by its score. Nothing leaves a segment yet: Redis may refuse what else is read.
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

-- The envelopes of ids: the list of the reply, {index, id, envelope, ...}; for several tasks, the fields that lease them; and
-- whether all are plain. A segment among the ids has no envelope. An envelope that has more to tell is marked as in
-- lib/base.lua, and every id begins with '-' or a later byte.
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

-- The leased tasks leave `ready`, where they stood by themselves or in segments. Returns a table if Redis refuses that, and then
-- none of them has left: its error. Of segments their ids leave the lists first. A command that is refused behind that raises: the
-- tasks are leased, which recover.lua tells. Then a segment stays in `ready` at an earlier place than its first task's, or is empty;
-- a later lease moves it on, or finds it empty and removes it (lib/segment.lua), as it leaves `segments` first.
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

-- Leases the tasks at the head of `ready`, where ids stand. Returns the list of the reply; how many they are; and whether more
-- stand behind them. Where the careful path is needed it returns nil, and nothing is changed. Where Redis refuses the leases,
-- the fourth value is its error, which ends the call. names: by place, the thread that a task is for, behind `dealt` others; nil: all are
-- for `thread`.
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
  -- The leases are written before the tasks leave `ready`: no task is nowhere meanwhile.
  if leases then fault = try_enter_running_all(running, leases) else fault = try_enter_running_one(running, ids[1], lease) end
  if type(fault) ~= 'number' then return nil, 0, false, fault end
  local taken = #ids
  fault = leave_ready(P, want, want_text, taken, more, segment, left, used_up, from_first)
  if type(fault) == 'table' then
    -- All of them stay ready, and would run twice with these leases.
    try_leave_running_all(running, ids)
    return nil, 0, false, fault
  end
  return leased, taken, more
end
