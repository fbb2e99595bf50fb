-- The common path of leasing: plain tasks, whose envelopes have nothing to tell beyond themselves, of a queue without limits,
-- events and large envelopes, by a session that has begun there. lib/lease.lua has the careful path, for all the rest.
--
-- requires: shortcuts, turn_settings
-- gives: head_of, lease_plain

-- The first ids of `ready`, one more than are wanted: then it is known whether another thread is to be woken. Where the first
-- member is a segment (lib/segment.lua), two of those behind it tell all. false where the careful path is needed.
local function head_of(P, want, ask, settings) -- inline
  if settings[LARGE_TASKS] or settings[GATE] then return false end
  if want <= 2 then return call('ZRANGE', P .. 'ready', '0', ask) end
  local ids = call('ZRANGE', P .. 'ready', '0', '2')
  if ids[3] and byte(ids[1]) ~= @PACKET_BYTE@ then return call('ZRANGE', P .. 'ready', '0', ask) end
  return ids
end

-- Takes up to `want` tasks out of the segments at the head of `ready`: of the first one, and of the second one behind it.
-- Returns their ids; whether more stand behind them; the member of `ready` whose tasks were taken last, and how many it has
-- left; the first member and how many of the ids are its own, where it was used up, else nil and 0; and whether the path is
-- still the common one: what is wanted is there, or all there is, and no other task stands between them by its score.
local function take_from_segments(P, members, want, ask) -- inline
  local segment, behind, third, used_up, from_first = members[1], members[2], members[3], nil, 0
  local list = P .. 'packet:' .. sub(segment, 2)
  local ids = call('LPOP', list, ask) or {}
  local left = call('LLEN', list)
  local is_plain = #ids > 0
  if is_plain and #ids < want and behind and byte(behind) == @PACKET_BYTE@ then
    used_up, from_first = segment, #ids
    segment, behind = behind, third
    list = P .. 'packet:' .. sub(segment, 2)
    for _, id in ipairs(call('LPOP', list, format('%d', want - from_first)) or {}) do ids[#ids + 1] = id end
    left = call('LLEN', list)
  end
  is_plain = is_plain and (#ids == want or not behind)
  if is_plain and behind and byte(behind) ~= @PACKET_BYTE@ then
    is_plain = call('ZSCORE', P .. 'ready', behind) - call('ZSCORE', P .. 'ready', segment) >
      @SCORE_STEP@ * (want - 1 - from_first)
  end
  return ids, left > 0 or behind, segment, left, used_up, from_first, is_plain
end

-- The ids go back to the heads of the segments from which they were taken.
local function give_back(P, ids, segment, used_up, from_first) -- inline
  for i = #ids, 1, -1 do
    call('LPUSH', P .. 'packet:' .. sub(i <= from_first and used_up or segment, 2), ids[i])
  end
end

-- The envelopes of ids: the list of the reply, {index, id, envelope, ...}; for several tasks, the fields that lease them; and
-- whether all are plain. A segment among the ids has no envelope. An envelope that has more to tell is marked as in
-- lib/base.lua, and no id begins with what comes before '-'.
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

-- The leased tasks leave `ready`, where they stood by themselves or in segments.
local function leave_ready(P, taken, more, segment, left, used_up, from_first) -- inline
  if not segment then
    call('ZREMRANGEBYRANK', P .. 'ready', '0', taken == 1 and '0' or more and format('%d', taken - 1) or '-1')
    return
  end
  if used_up then
    call('ZREM', P .. 'ready', used_up)
    call('SREM', P .. 'packets', sub(used_up, 2))
  end
  if left > 0 then
    local step = taken == 1 and '@SCORE_STEP@' or format('%d', @SCORE_STEP@ * (taken - from_first))
    call('ZINCRBY', P .. 'ready', step, segment)
  else
    call('ZREM', P .. 'ready', segment)
    call('SREM', P .. 'packets', sub(segment, 2))
  end
end

-- Leases the tasks at the head of `ready`, where ids stand. Returns the list of the reply, or nil where the careful path is
-- needed, and nothing is changed; how many they are; whether more stand behind them; and the error of Redis's that refused the leases.
local function lease_plain(P, index, running, ids, want, ask, now, thread, has_begun) -- inline
  if not has_begun and call('HEXISTS', running, '#') == 0 then return nil end
  local leased, leases, more, segment, left, used_up, fault
  local from_first, is_plain, lease = 0, true, now .. ' ' .. thread
  if byte(ids[1]) == @PACKET_BYTE@ then
    ids, more, segment, left, used_up, from_first, is_plain = take_from_segments(P, ids, want, ask)
  else
    more = #ids > want
    ids[want + 1] = nil
  end
  if is_plain then leased, leases, is_plain = read_plain(P, index, ids, lease) end
  -- The leases are written first: where Redis refuses what follows, recover.lua finds the tasks by them.
  if is_plain then
    if leases then fault = redis.pcall('HSET', running, unpack(leases)) else fault = redis.pcall('HSET', running, ids[1], lease) end
    if type(fault) == 'number' then fault = nil end
  end
  if fault or not is_plain then
    if segment then give_back(P, ids, segment, used_up, from_first) end
    return nil, 0, false, fault
  end
  local taken = #ids
  leave_ready(P, taken, more, segment, left, used_up, from_first)
  return leased, taken, more
end
