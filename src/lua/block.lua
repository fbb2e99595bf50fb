#!lua flags=allow-oom
-- block: the handler of a running task has ended, and the task waits for others: it is blocked until these have ended.
-- Tasks that the handler has chained are enqueued in the same step; most often they are those that it waits for.
--
-- KEYS[1]  the queue's prefix
-- ARGV     session lease id parents, (handle options rest)*
--   lease    "<since ms> <thread>": the task is meant only while the session holds it by exactly this lease
--   parents  "<handle> <rule> <handle> <rule> ...", 1 to @PARENTS_MAX@. A rule: f the task dies if that one dies, g it
--            goes on, w it waits for a retry
--   handle, options, rest  a chained task, as in enqueue.lua. If a task has its id, it is not enqueued
-- reply    1; or 0: the session does not hold the task any more
--
--   Example: thread 3 of session w-1 enqueues task B, and lets task A wait for it:
--     KEYS "reeve:{q}:"   ARGV "w-1" "1700000000000 3" "A" "q/B f" "q/B" "" "\"type\":\"t\"}\n"
--
-- No attempt has failed, as with a snooze. A task that was cancelled while it ran ends as cancelled, and its chained
-- tasks are not enqueued. A parent that is not known lets the task die with kind "unknown_parent". It runs also when
-- Redis is out of memory, as turn.lua does, whose work it is a part of.
-- Sent twice: the second finds that the session does not hold the task by this lease, and says 0. So after a lost reply
-- 0 may mean that the first call did it; either way the thread has nothing more to settle.
-- require: base
-- The functions make capturing the names above cheaper: see docs/scripts.md.
return (function()
-- require: foreign_key, sequence, event, history, retention, unique, dependency_edges, limit_state
return (function()
-- require: cancel_mark, cancelled, chained, deadline, dependency_death, dependency_register, messages, open_edges
-- require: options
-- require: transitions, wake_one

local P, session, lease, id, given = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- The parents, or nil: they are none.
local function parents_of(words)
  local edges, length = {}, -1
  for handle, policy in string.gmatch(words, '([%w._~-]+/[%w._:-]+) ([fgw])') do
    edges[#edges + 1] = {handle, policy}
    length = length + #handle + #policy + 2
  end
  return #edges > 0 and #edges <= @PARENTS_MAX@ and length == #words and edges or nil
end

local edges = given and parents_of(given)
if not edges or session == '' or not find(lease, '^%d+ .') or is_no_id(id) or #ARGV % 3 ~= 1 then
  return redis.error_reply('ERR @NAME@: it takes a session, a lease, a task, its parents, and chained tasks')
end
for at = 5, #ARGV, 3 do
  local fault = chained_fault(ARGV[at], ARGV[at + 1], ARGV[at + 2])
  if fault then return redis.error_reply('ERR @NAME@: ' .. fault) end
end
do
-- require: expect
  local fault = unfit(P, id)
  if fault then return fault end
end
local running, envelope = P .. 'running:' .. session, call('HGET', P .. 'tasks', id)
if not envelope or call('HGET', running, id) ~= lease then return 0 end
local now, in_force = clock(), call('HGET', P .. 'settings', 'in_force')
know_in_force(P, in_force)
act_as(running)

-- Those in this queue that come by a message are expected.
local function enqueue_all()
  local later = {}
  for at = 5, #ARGV, 3 do
    local how = enqueue_chained(P, ARGV[at], ARGV[at + 1], ARGV[at + 2], now)
    later[ARGV[at]] = how == 'later'
  end
  for _, edge in ipairs(edges) do
    if later[edge[1]] and parts(edge[1]) == own_queue(P) then edge[2] = edge[2] .. 'e' end
  end
end

-- How many parents the task has. Those that it waited for before it was let go do not count again.
local function known_parents()
  local known = call('HLEN', P .. 'parents:' .. id)
  if known == 0 then return 0 end
  forget_open_edges(P, id, known)
  return call('HLEN', P .. 'parents:' .. id)
end

local function wait_for_parents()
  drop_deadline(P, id, envelope)
  note(P, id, now, 'blocked')
  local pending, died = attach(P, id, edges, now, {}, known_parents())
  if died then return dies_of(P, id, died[1], died[2], now) end
  call('HSET', P .. 'info:' .. id, 'pending', text(pending))
  enter_blocked(P, id, text(now))
  tell_as(P, 'blocked', id)
  if pending <= 0 then unblock(P, id, now) end
end

leave_running(running, {id})
if in_force then release(P, {id}, now, in_force) end
if is_cancelled(envelope) then
  end_cancelled(P, id, envelope, now)
  notify(P, {id}, 'cancelled')
else
  enqueue_all()
  wait_for_parents()
end
-- The task that ended its run may have made room for another one.
if in_force and call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
if call('EXISTS', P .. 'outbox', P .. 'fanout') > 0 then announce_due(P, now) end
return 1
end)()
end)()
