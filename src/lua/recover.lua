#!lua flags=allow-oom
-- recover: what stands under a thread's name. Asked after a connection was lost with a reply: a task there that the
-- thread does not know was leased by the lost call; one that it wanted to settle and that is not there was settled by
-- it.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- ARGV[2]  the thread's name, or "" for all threads
-- ARGV[3]  the cursor: "0", then what the last reply said
-- reply    [1] 1, or 0 when the session is not there (never begun, or reaped)
--          [2] the next cursor; "0" at the end
--          [3] as in turn.lua, extras: {id, failures, crashes} each
--          [4] {id, lease, envelope, ...}
--
-- The thread stands in `idle` no more; what was handed to it meanwhile (lib/hand.lua) is found here as its lease, and a
-- wake-up goes to somebody else.
-- Sent twice: it says the same again.
-- require: base, attempt_info, wake_one

if not KEYS[1] or #ARGV ~= 3 or #ARGV[3] > 19 or not find(ARGV[3], '^%d+$') then
  return redis.error_reply('ERR @NAME@: it takes a session, a thread or nothing, and a cursor')
end
local P, running, thread = KEYS[1], KEYS[1] .. 'running:' .. ARGV[1], ARGV[2]
if thread ~= '' and ARGV[3] == '0' then
  local name = ARGV[1] .. ':' .. thread
  call('LREM', P .. 'idle', 0, name)
  if call('DEL', P .. 'hand:' .. name) == 1 and call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
end
if call('HEXISTS', running, '#') == 0 then return {0, '0', {}, {}} end
local found = call('HSCAN', running, ARGV[3], 'COUNT', 200)
local extras, tasks = {}, {}
for i = 1, #found[2], 2 do
  local id, value = found[2][i], found[2][i + 1]
  if byte(id) ~= 35 and (thread == '' or sub(value, find(value, ' ', 1, true) + 1) == thread) then
    local envelope = call('HGET', P .. 'tasks', id)
    if envelope then
      tasks[#tasks + 1] = id
      tasks[#tasks + 1] = value
      tasks[#tasks + 1] = envelope
      if has_info(envelope) then extras[#extras + 1] = attempt_info(P, id) end
    end
  end
end
return {1, found[1], extras, tasks}
