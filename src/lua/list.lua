#!lua flags=no-writes
-- list: a page of the tasks in one state.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the state
-- ARGV[2]  how many to skip
-- ARGV[3]  how many to return, at most 1000
-- ARGV[4]  dead: only those of this kind; "" or absent: of any
-- ARGV[5]  ready: "" or absent, or what the last reply said where it was a text
-- reply    where there are many segments before the page: a text, and the same call is to be sent again with it as
--          ARGV[5]. Else [1] how many there are
--          [2...] each as in show.lua; fewer than asked for, but at least one, when they are large
--
-- Waiting tasks come in the order in which they will run (those of a segment together, lib/segment.lua), ended ones
-- newest first, running ones by session. Sent twice: it only reads.
-- require: base, absent, counts, info, list_segments, state_kinds, whole

local P, state, skip, most = KEYS[1], ARGV[1], whole(ARGV[2], 0, LATEST), whole(ARGV[3], 0, LATEST)
local STATES = ' @STATE_NAMES@ '
if not P or not skip or not most or not find(STATES, ' ' .. state .. ' ', 1, true) or
  (ARGV[4] or '') ~= '' and state ~= 'dead' then
  return redis.error_reply('ERR @NAME@: ARGV[1] to ARGV[3] are a state, how many to skip and how many to return; only dead ones have a kind')
end
most = math.min(most, @CALL_MAX@)
local reply, bytes = {0}, 0
local REPLY_BYTES = 2097152

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

local newest_first = is_ended(state)
local set = P .. ((ARGV[4] or '') ~= '' and 'failures:' .. ARGV[4] or state)
local members
if state == 'ready' and call('EXISTS', P .. 'segments') == 1 then
  reply[1] = count_ready(P, count_running(P))
  local go_on
  members, go_on = page_with_segments(P, skip, most, ARGV[5] or '')
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
