#!lua flags=allow-oom
-- regain: what a thread was about to settle when its turn failed, perhaps half way, as its user lost the right to a
-- command or another program wrote a key, or when the reply was lost: a task that stands nowhere since is the session's
-- again, and can be settled once more.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- then     for each task, at most 100: its id, and the lease that it had ("<since ms> <thread>")
-- reply    [1] how many of them were looked at, the first ones: fewer than all where there are many sessions, at least one.
--              Call again with the others
--          [2] how many of these stood nowhere. Where the session is gone they are due instead, and run again
--
-- Sent twice: what was regained stands somewhere.
-- require: base, put_aside, task_state, states, transitions

local given, count = ARGV, (#ARGV - 1) / 2
if not KEYS[1] or count < 1 or count > @REGAIN_MAX@ or count % 1 ~= 0 then
  return redis.error_reply('ERR @NAME@: it takes a session, and for each of at most @REGAIN_MAX@ tasks its id and a lease')
end
local P, regained, ids, places = KEYS[1], 0, {}, {}
local running = P .. 'running:' .. given[1]
-- require: allowed
local words = not_allowed(P, 'HSET ZADD')
if words then return redis.error_reply(words) end
local stands = call('HEXISTS', running, '#') == 1
for i = 1, count do
  local id = given[2 * i]
  if not is_no_id(id) and call('HEXISTS', running, id) == 0 and call('HEXISTS', P .. 'tasks', id) == 1 then
    ids[#ids + 1], places[#places + 1] = id, i
  end
end
local states, known = states_of(P, ids, '')
for i = 1, known do
  if not states[i] then
    if stands then enter_running(running, {ids[i], given[2 * places[i] + 1]}) else put_aside(P, ids[i]) end
    regained = regained + 1
  end
end
return {known < #ids and places[known + 1] - 1 or count, regained}
