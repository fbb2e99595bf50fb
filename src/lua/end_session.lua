#!lua flags=allow-oom
-- end_session: a session ends in good order: what it still holds goes back to the front, with
-- neither a failure nor a crash counted; what was cancelled while it ran is cancelled.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- ARGV[2]  the most tasks to give back in this call; fewer where they have groups
-- ARGV[3]  "" or absent, or what the last reply said
-- reply    [1] how many went back
--          [2] 1 when there are more: call again
--          [3] absent, or what to send then (lib/turns.lua); without it groups take turns among the tasks of each call only
--
-- Sent twice: it goes on where it was. (Sums reach the statistics by heartbeat.lua, called before.)
-- require: base
-- In a function, where the names above cost less to capture: see CONTRIBUTING.md.
return (function()
-- require: sequence, requeue_front, leases, turns, drop_session, event, history, limit_state, schedule, retention, unique, once, dependency_edges, wake_one
-- require: cancelled, whole, cancel_mark, deadline, transitions

local most = whole(ARGV[2], 1, 9223372036854775808)
if not ARGV[1] or not most then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are a session and the most tasks to give back')
end
most = math.min(most, @CALL_MAX@)
do
-- require: expect
  local fault = unfit(KEYS[1])
  if fault then return fault end
end
local P, session = KEYS[1], ARGV[1]
local running = P .. 'running:' .. session
-- What goes back is for others to hear of.
forget_idle(P, session)
local woken = forget_woken(P, session)
-- Envelopes are read for their priority: few at once where they may be large.
local settings = call('HMGET', P .. 'settings', 'large', 'gate')
-- A task of a limited group takes Redis some 40 us. Pages are such that groups take turns over a batch of 256.
local LIMITED, PAGE = 32, 320
if settings[2] and find(settings[2], 'g', 1, true) then most = math.min(most, LIMITED) end
local leases = leases_of(running, settings[1] and 8 or PAGE)
local turns, goes_on = nil, ''
if not settings[1] then leases, turns, goes_on = last_turns(P, leases, most, sub(ARGV[3] or '', 1, 8192)) end
local held, ids, envelopes, gone, cancelled = {}, {}, {}, {}, {}
for i = 1, #leases do
  local id = leases[i][1]
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope or is_cancelled(envelope) then
    gone[#gone + 1] = id
    if envelope then cancelled[#cancelled + 1] = {id, envelope} end
  else
    ids[#ids + 1] = id
    envelopes[#envelopes + 1] = has_begun(P, id, envelope)
  end
  held[i] = id
end
if #held > 0 then
  leave_running(running, held)
  forget_handed(P, session, leases)
  if settings[2] then
    call_first(P, ids, envelopes, settings[2])
    release(P, ids, clock(), settings[2], true)
    release(P, gone, clock(), settings[2])
  end
  know_gate(P, settings[2])
  act_as(running)
  tell_as(P, 'given_back', ids)
  requeue_front(P, ids, envelopes, turns)
  for _, task in ipairs(cancelled) do
    end_cancelled(P, task[1], task[2], clock())
    notify(P, {task[1]}, 'cancelled')
  end
end
-- A wake-up may have gone to a thread of this session that will not use it.
if call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
local left = free_keys(P, session, text(most)) or woken or call('HLEN', running) > 3 and #leases_of(running, 1) > 0
if left then return goes_on ~= '' and {#ids, 1, goes_on} or {#ids, 1} end
drop_session(P, running)
-- One that is being reaped stays listed until its last task is back.
if call('EXISTS', P .. 'lost:' .. session) == 0 then call('ZREM', P .. 'sessions', session) end
return {#ids, 0}
end)()
