-- The common path of leasing: plain tasks, whose envelopes have nothing to tell beyond themselves, of a queue without limits,
-- events and large envelopes, by a session that has begun there. lib/lease.lua has the careful path, for all the rest.
--
-- requires: shortcuts, turn_settings
-- gives: head_of, lease_plain

-- The first ids of `ready`, one more than are wanted: then it is known whether another thread is to be woken. Where the first
-- member is a packet (lib/segment.lua), the next two members suffice. false where the careful path is needed.
local function head_of(P, want, ask, settings) -- inline
  if settings[LARGE_TASKS] or settings[GATE] then return false end
  if want <= 2 then return call('ZRANGE', P .. 'ready', '0', ask) end
  local ids = call('ZRANGE', P .. 'ready', '0', '2')
  if ids[3] and byte(ids[1]) ~= @PACKET_BYTE@ then return call('ZRANGE', P .. 'ready', '0', ask) end
  return ids
end

-- Reads up to `want` ids of the packets at the head of `ready`: of the first one, and of the second one behind it; one more
-- tells whether a packet has others left. Returns the ids; whether more stand behind them; the member of `ready` whose tasks
-- are taken last, and whether it has any left; the first member and how many of the ids are its own, where it is used up, else
-- nil and 0; and whether the path is still the common one: what is wanted is there, or all there is, and no other task stands
-- between them by its score. Nothing leaves a packet yet: Redis may refuse what else is read.
local function head_of_packets(P, members, want, ask) -- inline
  local packet, behind, third, used_up, from_first = members[1], members[2], members[3], nil, 0
  local ids = call('LRANGE', P .. 'packet:' .. sub(packet, 2), '0', ask)
  local is_plain = #ids > 0
  if is_plain and #ids < want and behind and byte(behind) == @PACKET_BYTE@ then
    used_up, from_first = packet, #ids
    packet, behind = behind, third
    local others = call('LRANGE', P .. 'packet:' .. sub(packet, 2), '0', format('%d', want - from_first))
    for i = 1, #others do ids[from_first + i] = others[i] end
  end
  local left = #ids > want
  ids[want + 1] = nil
  is_plain = is_plain and (#ids == want or not behind)
  if is_plain and behind and byte(behind) ~= @PACKET_BYTE@ then
    is_plain = call('ZSCORE', P .. 'ready', behind) - call('ZSCORE', P .. 'ready', packet) >
      @SCORE_STEP@ * (want - 1 - from_first)
  end
  return ids, left or behind, packet, left, used_up, from_first, is_plain
end

-- The ids that head_of_packets read leave their packets.
local function leave_packets(P, packet, used_up, from_first, want, ask) -- inline
  if used_up then
    call('LTRIM', P .. 'packet:' .. sub(used_up, 2), '1', '0')
    ask = format('%d', want - from_first)
  end
  call('LTRIM', P .. 'packet:' .. sub(packet, 2), ask, '-1')
end

-- The ids go back to the heads of their packets.
local function give_back(P, ids, packet, used_up, from_first) -- inline
  for i = #ids, 1, -1 do
    call('LPUSH', P .. 'packet:' .. sub(i <= from_first and used_up or packet, 2), ids[i])
  end
end

-- The envelopes of ids: the list of the reply, {index, id, envelope, ...}; for several tasks, the fields that lease them; and
-- whether all are plain. A packet among the ids has no envelope. An envelope that has more to tell is marked as in
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

-- The leased tasks leave `ready`, where they stood by themselves or in packets. Returns a table if Redis refuses that: its error.
local function leave_ready(P, taken, more, packet, left, used_up, from_first) -- inline
  if not packet then
    return redis.pcall('ZREMRANGEBYRANK', P .. 'ready', '0', taken == 1 and '0' or more and format('%d', taken - 1) or '-1')
  end
  if used_up then
    call('ZREM', P .. 'ready', used_up)
    call('SREM', P .. 'packets', sub(used_up, 2))
  end
  if left then
    local step = taken == 1 and '@SCORE_STEP@' or format('%d', @SCORE_STEP@ * (taken - from_first))
    call('ZINCRBY', P .. 'ready', step, packet)
  else
    call('ZREM', P .. 'ready', packet)
    call('SREM', P .. 'packets', sub(packet, 2))
  end
end

-- Leases the tasks at the head of `ready`, where ids stand. Returns the list of the reply; how many they are; and whether more
-- stand behind them. Where the careful path is needed it returns nil, and nothing is changed. Where Redis refuses the leases,
-- the fourth value is its error, which ends the call.
local function lease_plain(P, index, running, ids, want, ask, now, thread, has_begun) -- inline
  if not has_begun and call('HEXISTS', running, '#') == 0 then return nil end
  local leased, leases, more, packet, left, used_up, fault
  local from_first, is_plain, lease = 0, true, now .. ' ' .. thread
  if byte(ids[1]) == @PACKET_BYTE@ then
    ids, more, packet, left, used_up, from_first, is_plain = head_of_packets(P, ids, want, ask)
  else
    more = #ids > want
    ids[want + 1] = nil
  end
  if is_plain then leased, leases, is_plain = read_plain(P, index, ids, lease) end
  if not is_plain then return nil end
  if packet then leave_packets(P, packet, used_up, from_first, want, ask) end
  -- The leases are written before the tasks leave `ready`: no task is nowhere meanwhile.
  if leases then fault = redis.pcall('HSET', running, unpack(leases)) else fault = redis.pcall('HSET', running, ids[1], lease) end
  if type(fault) ~= 'number' then
    if packet then give_back(P, ids, packet, used_up, from_first) end
    return nil, 0, false, fault
  end
  local taken = #ids
  fault = leave_ready(P, taken, more, packet, left, used_up, from_first)
  if type(fault) == 'table' then
    -- The tasks stay ready, and would run twice with these leases.
    redis.pcall('HDEL', running, unpack(ids))
    return nil, 0, false, fault
  end
  return leased, taken, more
end
