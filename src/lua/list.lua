#!lua flags=no-writes
-- list: a page of the tasks in one state.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the state
-- ARGV[2]  how many to skip
-- ARGV[3]  how many to return, at most 1000
-- ARGV[4]  dead: only those of this kind; "" or absent: of any
-- reply    [1] how many there are
--          [2...] each as in show.lua; fewer than asked for, but at least one, when they are large
--
-- Waiting tasks come in the order in which they will run (those of a packet together, lib/packet.lua), ended ones newest first, running ones by session.
-- Sent twice: it only reads.
-- include: lib/base.lua
-- include: lib/counts.lua
-- include: lib/info.lua

local P, state, skip, most = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local reply, bytes = {0}, 0
local REPLY_BYTES = 16777216

local function is_full()
  return #reply > most or bytes > REPLY_BYTES
end

local function add(id, score, session, lease)
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope then return end
  local task, more = describe(P, id, envelope, state, score, session, lease)
  reply[#reply + 1] = task
  bytes = bytes + #envelope + more
end

if state == 'running' then
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    for _, kind in ipairs({'running:', 'lost:'}) do
      local leases = call('HGETALL', P .. kind .. session)
      for i = 1, #leases, 2 do
        if byte(leases[i]) ~= 35 then
          reply[1] = reply[1] + 1
          if reply[1] > skip and not is_full() then add(leases[i], nil, session, leases[i + 1]) end
        end
      end
    end
  end
  return reply
end

-- The members of `ready` that are asked for and their scores, as ZRANGE has them, but of packets (lib/packet.lua) their
-- tasks. The later a page, the more packets are passed.
local function through_packets()
  local found, place, rank, stop = {}, 0, 0, skip + most
  -- Which of the next `count` tasks are asked for: from, to; counted from 0.
  local function part(count)
    local from, to = math.max(skip - place, 0), math.min(stop - place, count) - 1
    place = place + count
    return from, to
  end
  local function add_singles(count)
    local from, to = part(count)
    if from > to then return end
    local members = call('ZRANGE', P .. 'ready', text(rank + from), text(rank + to), 'WITHSCORES')
    for i = 1, #members do found[#found + 1] = members[i] end
  end
  -- (Groups take turns with a packet: `between` of theirs may stand among its tasks.)
  local function add_packet(p, score, length, its, between)
    local room = stop - place
    local ids = call('LRANGE', P .. 'packet:' .. p, '0', text(room - 1))
    local others = between > 0 and
      call('ZRANGE', P .. 'ready', text(its + 1), text(its + math.min(between, room)), 'WITHSCORES') or {}
    local from, to = part(length + between)
    local i, j = 1, 1
    for n = 0, to do
      local own, other = ids[i] and score + 256 * (i - 1), tonumber(others[j + 1])
      local first = own and (not other or own < other or own == other and ids[i] < others[j])
      if n >= from then
        found[#found + 1] = first and ids[i] or others[j]
        found[#found + 1] = first and text(own) or others[j + 1]
      end
      if first then i = i + 1 else j = j + 2 end
    end
  end
  local packets, scores = call('SMEMBERS', P .. 'packets'), {}
  for _, p in ipairs(packets) do scores[p] = tonumber(call('ZSCORE', P .. 'ready', '+' .. p)) or 0 end
  table.sort(packets, function(a, b) return scores[a] < scores[b] end)
  for _, p in ipairs(packets) do
    local its = call('ZRANK', P .. 'ready', '+' .. p) or rank
    add_singles(its - rank)
    if place >= stop then return found end
    local score, length = scores[p], call('LLEN', P .. 'packet:' .. p)
    local between = math.max(call('ZCOUNT', P .. 'ready', '-inf', text(score + 256 * (length - 1))) - its - 1, 0)
    add_packet(p, score, length, its, between)
    rank = its + 1 + between
    if place >= stop then return found end
  end
  add_singles(call('ZCARD', P .. 'ready') - rank)
  return found
end

local newest_first = state == 'completed' or state == 'dead' or state == 'cancelled'
local set = P .. ((ARGV[4] or '') ~= '' and 'failures:' .. ARGV[4] or state)
local members
if state == 'ready' and call('EXISTS', P .. 'packets') == 1 then
  reply[1] = count_ready(P, count_running(P))
  members = through_packets()
else
  reply[1] = call('ZCARD', set)
  members = call(newest_first and 'ZREVRANGE' or 'ZRANGE', set, skip, skip + most - 1, 'WITHSCORES')
end
for i = 1, #members, 2 do
  if is_full() then break end
  add(members[i], members[i + 1])
end
return reply
