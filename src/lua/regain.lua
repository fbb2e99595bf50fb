#!lua flags=allow-oom
-- regain: gives a session back the tasks of a turn that failed halfway. A turn may fail between two of its commands:
-- its user loses the right to one of them, or another program wrote a key with another type. A task that it had taken
-- from the session by then, and had put nowhere else, is in no state. It becomes the session's again, and can be
-- settled once more.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- then     for each task, at most @REGAIN_MAX@: its id, and the lease that it had ("<since ms> <thread>")
-- reply    [1] how many of the tasks were examined, the first ones: fewer than all where there are many sessions, at
--              least one. Call again with the others
--          [2] how many of these were in no state. Where the session is gone they are due instead, and run again
--
--   Example: KEYS "reeve:{q}:"   ARGV "w-1" "A" "1700000000000 3"      reply {1, 0}: A was settled
--
-- After a lease was ended by hand, its session may not lease the task again for a time, as an outcome of that lease may
-- be on its way (lib/revoke.lua). By this call the worker says that none is, and the session may lease the task at
-- once.
--
-- Who calls it: a thread, behind recover.lua, for what it was to settle and what recover.lua has not found; then
-- recover.lua again; a worker of which a lease was ended by hand.
-- Sent twice: a task that was regained is in a state.
-- require: base, put_aside, task_state, states, transitions

local given, count = ARGV, (#ARGV - 1) / 2
if not KEYS[1] or count < 1 or count > @REGAIN_MAX@ or count % 1 ~= 0 then
  return redis.error_reply('ERR @NAME@: it takes a session, and for each of at most @REGAIN_MAX@ tasks its id and a lease')
end
local P, regained, ids, places = KEYS[1], 0, {}, {}
local running = P .. 'running:' .. given[1]
-- require: allowed
local words = rights_fault(P, 'HDEL HSET ZADD')
if words then return redis.error_reply(words) end
local stands = call('HEXISTS', running, '#') == 1
for i = 1, count do
  local id = given[2 * i]
  if not is_no_id(id) and call('HEXISTS', running, id) == 0 and call('HEXISTS', P .. 'tasks', id) == 1 then
    ids[#ids + 1], places[#places + 1] = id, i
    if redis.pcall('HGET', P .. 'info:' .. id, 'revoked') == running then
      call('HDEL', P .. 'info:' .. id, 'revoked', 'revoked_at')
    end
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
