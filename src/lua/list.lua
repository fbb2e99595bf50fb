#!lua flags=no-writes
-- list: a page of the tasks in one state.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the state
-- ARGV[2]  how many to skip
-- ARGV[3]  how many to return, at most 1000
-- reply    [1] how many there are
--          [2...] each as in show.lua
--
-- Waiting tasks come in the order in which they will run, ended ones newest first, running ones by session.
-- Sent twice: it only reads.
-- include: lib/base.lua
-- include: lib/info.lua

local P, state, skip, most = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local reply, members = {0}, {}

local function add(id, score, session, lease)
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope then reply[#reply + 1] = describe(P, id, envelope, state, score, session, lease) end
end

if state == 'running' then
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    for _, kind in ipairs({'running:', 'lost:'}) do
      local leases = call('HGETALL', P .. kind .. session)
      for i = 1, #leases, 2 do
        if byte(leases[i]) ~= 35 then
          reply[1] = reply[1] + 1
          if reply[1] > skip and #reply <= most then add(leases[i], nil, session, leases[i + 1]) end
        end
      end
    end
  end
  return reply
end

local newest_first = state == 'completed' or state == 'dead' or state == 'cancelled'
reply[1] = call('ZCARD', P .. state)
members = call(newest_first and 'ZREVRANGE' or 'ZRANGE', P .. state, skip, skip + most - 1, 'WITHSCORES')
for i = 1, #members, 2 do add(members[i], members[i + 1]) end
return reply
