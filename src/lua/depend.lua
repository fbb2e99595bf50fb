#!lua
-- depend: edges are added to a waiting task, or taken from it.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "add", "add <n>" (the task has at most n parents then, or nothing is done), or "remove"
-- ARGV[2]  the child's id
-- add:     ARGV[3...] a parent's handle and the edge's policy, and so on; see lib/dependency_register.lua
-- remove:  ARGV[3...] parents' handles
-- reply    "ok", or the state that does not allow it, or "malformed", or "" when there is no such task, or
--          "parents <how many>" that it would have, or "unknown <id>": there is no such parent in this queue, nor a
--          record of it
--
-- A task that was ready waits from the first edge on whose parent has not ended; it is ready when the last has ended or
-- was removed. Sent twice: it says the same again; what was let go by the first may run by then, and it says so.
-- require: base
-- In a function, where the names above cost less to capture, and as there is room for 200 locals: see CONTRIBUTING.md.
return (function()
-- require: sequence, requeue_front, event, history, retention, unique
return (function()
-- require: schedule, dependency_edges, task_state, insert, death, control, dependency_register, dependency_death, messages, readers, reads, transitions

local P, id, now = KEYS[1], ARGV[2], clock()
if not id or ARGV[1] ~= 'remove' and ARGV[1] ~= 'add' and not find(ARGV[1], '^add %d+$') or #ARGV > 4002 then
  return redis.error_reply('ERR @NAME@: it takes "add", "add <n>" or "remove", a task, and at most @DEPEND_MAX@ parents')
end
do
-- require: expect
  local fault = unfit(KEYS[1], id)
  if fault then return fault end
end
local envelope = call('HGET', P .. 'tasks', id)
if not envelope then return '' end
local state, score = task_state(P, id, true)

if ARGV[1] == 'remove' then
  if not is_waiting(state) then return state or '' end
  if state ~= 'blocked' then return 'ok' end
  local queue, restoring, left = own_queue(P), call('HGET', P .. 'info:' .. id, 'restoring'), nil
  for i = 3, #ARGV do
    local edge = call('HGET', P .. 'parents:' .. id, ARGV[i])
    if edge then
      call('HDEL', P .. 'parents:' .. id, ARGV[i])
      if sub(edge, 2, 2) == 'c' then readers.undo(P, id, ARGV[i]) end
      if sub(edge, 2, 2) == '-' then
        unlink_edge(P, queue, id, ARGV[i])
        if is_made(edge, restoring) then left = call('HINCRBY', P .. 'info:' .. id, 'pending', -1) end
      end
    end
  end
  if left and left <= 0 then
    -- Whose edges all wait for a death: there was none.
    if call('HEXISTS', P .. 'info:' .. id, 'death') == 1 then not_needed(P, id) else unblock(P, id, now) end
  end
  if call('EXISTS', P .. 'outbox') == 1 then announce_due(P, now) end
  return 'ok'
end

if not is_waiting(state) then return state or '' end
if header(envelope, id).malformed then return 'malformed' end
local edges = {}
for i = 3, #ARGV, 2 do
  local handle, policy = ARGV[i], ARGV[i + 1] or ''
  if #ARGV > 4002 or not find(policy, '^[fgwx][ge]?$') or handle ~= '!' and not find(handle, '^[%w._-]+/[%w._:-]+$') then
    return redis.error_reply('ERR depend: a parent is no handle with a policy, or there are more than @DEPEND_MAX@')
  end
  -- Whoever waits for a death and is not blocked has met it.
  if sub(ARGV[i + 1], 1, 1) == 'x' and state ~= 'blocked' then return state end
  edges[#edges + 1] = {ARGV[i], ARGV[i + 1]}
end

-- How many parents there are when these have come, of `total` before, if that is too many. ("!" is none.)
local function too_many(most, total)
  local key, handles, known = P .. 'parents:' .. id, {'!'}, {['!'] = true}
  if total + #edges <= most then return end
  for i = 1, #edges do handles[i + 1] = edges[i][1] end
  local there = call('HMGET', key, unpack(handles))
  if there[1] then total = total - 1 end
  for i = 2, #handles do
    if not there[i] and not known[handles[i]] then total, known[handles[i]] = total + 1, true end
  end
  return total > most and total
end

local states = {}
local missing = missing_parent(P, edges, now, nil, states)
if missing then return 'unknown ' .. missing end
local most = string.match(ARGV[1], '^add (%d+)$')
local before = call('HLEN', P .. 'parents:' .. id)
local total = most and too_many(tonumber(most), before)
if total then return 'parents ' .. text(total) end
-- What it waited for before it was let go (a death was met, it died and was retried) it does not wait for again: edges
-- that had not ended then are forgotten, and where there are many the others with them.
local function forget_open_edges()
  local key, open = P .. 'parents:' .. id, {}
  if before > @EDGES_AT_ONCE@ then return leave_parents(P, id, true) end
  leave_parents(P, id)
  local known = call('HGETALL', key)
  for i = 1, #known, 2 do
    if sub(known[i + 1], 2, 2) == '-' then open[#open + 1] = known[i] end
  end
  if #open > 0 then call('HDEL', key, unpack(open)) end
end

if state ~= 'blocked' and before > 0 then
  forget_open_edges()
  states = {} -- (a record may have gone with them)
  before = call('HLEN', P .. 'parents:' .. id)
end
-- Marked, so that what it knows of its parents goes with it.
if #edges > 0 then mark_info(P, id, envelope) end
local pending, died, decides = attach(P, id, edges, now, states, before, state == 'blocked' and
  call('HGET', P .. 'info:' .. id, 'restoring') or nil)
if pending > 0 then
  if state ~= 'blocked' then
    leave_place(P, id, state, envelope)
    if state == 'scheduled' then call('HSET', P .. 'info:' .. id, 'due', text(score)) end
    note(P, id, now, 'blocked')
    tell(P, 'blocked', id)
    enter_blocked(P, id, text(now))
  end
end
if pending ~= 0 then
  local left = call('HINCRBY', P .. 'info:' .. id, 'pending', text(pending))
  if left <= 0 and not died then
    if call('HEXISTS', P .. 'info:' .. id, 'death') == 1 then not_needed(P, id) else unblock(P, id, now) end
  end
end
if died then
  if decides == 'x' then
    if call('ZSCORE', P .. 'blocked', id) then readers.meet_death(P, id, now) end
  else
    if state ~= 'blocked' and pending == 0 then leave_place(P, id, state, envelope) end
    dies_of(P, id, died[1], died[2], now)
  end
end
return 'ok'
end)()
end)()
