#!lua flags=no-writes
-- list: a page of the tasks in one state.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the state
-- ARGV[2]  how many to skip
-- ARGV[3]  how many to return, at most 1000
-- ARGV[4]  dead: only those of this kind; "" or absent: of any
-- ARGV[5]  ready: "" or absent, or what the last reply said where it was a text
-- reply    where there are many packets before the page: a text, and the same call is to be sent again with it as ARGV[5].
--          Else [1] how many there are
--          [2...] each as in show.lua; fewer than asked for, but at least one, when they are large
--
-- Waiting tasks come in the order in which they will run (those of a packet together, lib/segment.lua), ended ones newest first, running ones by session.
-- Sent twice: it only reads.
-- require: base, counts, info, whole

local P, state, skip, most = KEYS[1], ARGV[1], whole(ARGV[2], 0, LATEST), whole(ARGV[3], 0, LATEST)
local STATES = ' blocked ready scheduled parked running completed dead cancelled '
if not P or not skip or not most or not find(STATES, ' ' .. state .. ' ', 1, true) then
  return redis.error_reply('ERR @NAME@: ARGV[1] to ARGV[3] are a state, how many to skip and how many to return')
end
most = math.min(most, @CALL_MAX@)
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

-- Those of a session's tasks that are asked for, behind the first ones.
local function add_leases(key, session, passed)
  for _, id in ipairs(call('HKEYS', key)) do
    if is_full() then return end
    if byte(id) ~= 35 then
      passed = passed - 1
      if passed < 0 then add(id, nil, session, call('HGET', key, id)) end
    end
  end
end

-- Of the other sessions only the lengths of their hashes are asked for.
if state == 'running' then
  each_session(P, function(key, session, held)
    local before = reply[1]
    reply[1] = before + held
    if reply[1] > skip and not is_full() then add_leases(key, session, skip - before) end
  end)
  return reply
end

-- The members of `ready` that are asked for and their scores, as ZRANGE has them, but of packets (lib/segment.lua) their
-- tasks. The later a page, the more packets are passed: so many in a call. Where these are not all, returns nil, at which
-- rank to go on, and how many tasks are before it.
local PASSED_MOST, SINGLES_MOST = 250, 128
local function through_packets()
  local rank, place = string.match(ARGV[5] or '', '^(%d+) (%d+)$')
  rank, place = tonumber(rank) or 0, tonumber(place) or 0
  local found, stop, passed = {}, skip + most, 0
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
  -- Groups take turns with a packet: `between` of theirs may stand among its tasks.
  local function add_packet(p, score, length, its, between)
    if place + length + between <= skip then
      place = place + length + between
      return
    end
    local room = stop - place
    local ids = call('LRANGE', P .. 'packet:' .. p, '0', text(room - 1))
    local others = between > 0 and
      call('ZRANGE', P .. 'ready', text(its + 1), text(its + math.min(between, room)), 'WITHSCORES') or {}
    local from, to = part(length + between)
    local i, j = 1, 1
    for n = 0, to do
      local own, other = ids[i] and score + @SCORE_STEP@ * (i - 1), tonumber(others[j + 1])
      local first = own and (not other or own < other or own == other and ids[i] < others[j])
      if n >= from then
        found[#found + 1] = first and ids[i] or others[j]
        found[#found + 1] = first and text(own) or others[j + 1]
      end
      if first then i = i + 1 else j = j + 2 end
    end
  end
  -- A packet is looked for among the next members, and then among more.
  local look = 1
  while place < stop do
    local members = call('ZRANGE', P .. 'ready', text(rank), text(rank + look - 1), 'WITHSCORES')
    if #members == 0 then break end
    local at = 1
    while members[at] and byte(members[at]) ~= PACKET do at = at + 2 end
    local singles = (at - 1) / 2
    if singles > 0 then
      -- Without packets before the page, it is as far as ranks say.
      if not members[at] and call('SCARD', P .. 'packets') == 0 then singles = call('ZCARD', P .. 'ready') - rank end
      add_singles(singles)
      rank = rank + singles
    end
    look = members[at] and 1 or math.min(2 * look, SINGLES_MOST)
    if members[at] and place < stop then
      local p, score = sub(members[at], 2), tonumber(members[at + 1])
      local length = call('LLEN', P .. 'packet:' .. p)
      local last = text(score + @SCORE_STEP@ * math.max(length - 1, 0))
      local between = math.max(call('ZCOUNT', P .. 'ready', '-inf', last) - rank - 1, 0)
      add_packet(p, score, length, rank, between)
      rank = rank + 1 + between
    end
    passed = passed + 1
    if passed > PASSED_MOST and place < stop then
      if #found == 0 then return nil, text(rank) .. ' ' .. text(place) end
      break -- (a page may be shorter than was asked for)
    end
  end
  return found
end

local newest_first = state == 'completed' or state == 'dead' or state == 'cancelled'
local set = P .. ((ARGV[4] or '') ~= '' and 'failures:' .. ARGV[4] or state)
local members
if state == 'ready' and call('EXISTS', P .. 'packets') == 1 then
  reply[1] = count_ready(P, count_running(P))
  local go_on
  members, go_on = through_packets()
  if not members then return go_on end
else
  reply[1] = call('ZCARD', set)
  members = call(newest_first and 'ZREVRANGE' or 'ZRANGE', set, text(skip), text(skip + most - 1), 'WITHSCORES')
end
for i = 1, #members, 2 do
  if is_full() then break end
  add(members[i], members[i + 1])
end
return reply
