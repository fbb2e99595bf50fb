#!lua
-- wait: has a task ended? If not, whoever settles it will publish its state on <prefix>done:<id>.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  for how long, in ms; ask again before that
-- reply    its state, or "" when there is no such task; or a list of that, where notices of this queue could not be
--          sent (lib/base.lua) in the last hour: ask every second
--
-- Sent twice: it registers the same again.
-- require: base, state_kinds, task_state, whole

local P, id, time = KEYS[1], ARGV[1], whole(ARGV[2], 0, INT64)
if not P or not time then return redis.error_reply('ERR @NAME@: it takes a task and for how long, in ms') end
do
-- require: allowed
  local words = rights_fault(P, '@COMMANDS@')
  if words then return redis.error_reply(words) end
end
if call('HEXISTS', P .. 'tasks', id) == 0 then return '' end
local state = task_state(P, id)
if not is_ended(state) then
  call('HSET', P .. 'settings', 'waiters', 1)
  call('ZADD', P .. 'waiters', text(math.min(clock() + time, LATEST)), id)
  if call('HEXISTS', P .. 'settings', 'unsent') == 1 then return {state} end
end
return state or ''
