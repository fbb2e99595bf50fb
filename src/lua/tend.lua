#!lua flags=allow-oom
-- tend: what a queue needs from time to time: due tasks become ready, the tasks of expired sessions go back to the front,
-- what was kept long enough goes.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the most tasks to touch of each kind
-- reply    [1] now in ms
--          [2] 1 when there is more to do at once
--          [3] when to come again, in ms since the epoch; -1: nothing is due
--          [4] tasks that became ready
--          [5] tasks recovered from dead workers
--          [6] records trimmed
--          [7] the session whose tasks these were, or ""
--
-- Sent twice: it does what is still to do.
-- include: lib/base.lua
-- include: lib/order.lua
-- include: lib/front.lua
-- include: lib/keep.lua
-- include: lib/leases.lua

local P, limit = KEYS[1], tonumber(ARGV[1])
local now = clock()
local settings = call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'dead_age', 'dead_count',
  'waiters', 'paused', 'large')
-- (Whoever reads envelopes to see their headers reads few of them where they may be large.)
if settings[7] then limit = math.min(limit, 8) end
local more, next_due = 0, nil

local function due_at(time)
  if time then next_due = math.min(next_due or time, time) end
end

local function first_score(set)
  return tonumber(call('ZRANGE', P .. set, 0, 0, 'WITHSCORES')[2])
end

local function promote()
  local ids = call('ZRANGEBYSCORE', P .. 'scheduled', '-inf', text(now), 'LIMIT', 0, limit)
  if #ids > 0 then
    local envelopes = call('HMGET', P .. 'tasks', unpack(ids))
    local order, ready = order_open(P), {}
    for i = 1, #ids do
      if envelopes[i] then
        local o = header(envelopes[i])
        ready[#ready + 1] = text(next_score(order, o.priority, o.group, o.weight))
        ready[#ready + 1] = ids[i]
      end
    end
    call('ZREMRANGEBYRANK', P .. 'scheduled', 0, #ids - 1)
    if #ready > 0 then
      order_save(order)
      call('ZADD', P .. 'ready', unpack(ready))
    end
    if #ids == limit then more = 1 end
  end
  due_at(first_score('scheduled'))
  return #ids
end

-- A session is reaped in steps: first its hash is renamed, so that from then on it holds nothing and none of its outcomes
-- is accepted; its place in `sessions` stays, at 0, until its last task is back.
local function reap()
  local expired = call('ZRANGEBYSCORE', P .. 'sessions', '-inf', text(now), 'LIMIT', 0, 1)
  local session = expired[1]
  if not session then
    due_at(first_score('sessions'))
    return 0, ''
  end
  local running, lost = P .. 'running:' .. session, P .. 'lost:' .. session
  if call('EXISTS', running) == 1 then call('RENAME', running, lost) end
  call('ZADD', P .. 'sessions', 0, session)
  call('HDEL', lost, '#', '#totals')
  local leases = leases_of(lost, limit)
  if #leases > 0 then
    local ids = {}
    for i = 1, #leases do ids[i] = leases[i][1] end
    local envelopes = call('HMGET', P .. 'tasks', unpack(ids))
    local back, back_envelopes = {}, {}
    for i = 1, #ids do
      if envelopes[i] then
        call('HINCRBY', P .. 'info:' .. ids[i], 'crashes', 1)
        mark_info(P, ids[i], envelopes[i])
        back[#back + 1] = ids[i]
        back_envelopes[#back_envelopes + 1] = envelopes[i]
      end
    end
    to_front(P, back, back_envelopes)
    call('HDEL', lost, unpack(ids))
    call('HINCRBY', P .. 'counters', 'crashed', #ids)
  end
  if call('EXISTS', lost) == 0 then call('ZREM', P .. 'sessions', session) end
  more = 1
  return #leases, session
end

local function trim(set, age, count)
  local trimmed = trim_count(P, set, count, limit)
  if age >= 0 then
    local ids = call('ZRANGEBYSCORE', P .. set, '-inf', text(now - age), 'LIMIT', 0, limit)
    if #ids > 0 then
      call('ZREMRANGEBYRANK', P .. set, 0, #ids - 1)
      forget(P, ids)
      trimmed = trimmed + #ids
    end
    local oldest = first_score(set)
    if oldest then due_at(oldest + age) end
  end
  if trimmed >= limit then more = 1 end
  return trimmed
end

-- With nothing waiting, the virtual time starts again; else groups that are behind the head are forgotten.
local function forget_order()
  local head = first_score('ready')
  if not head then
    call('DEL', P .. 'order', P .. 'groups')
    if settings[7] and call('EXISTS', P .. 'tasks') == 0 then call('HDEL', P .. 'settings', 'large') end
  elseif call('EXISTS', P .. 'groups') == 1 then
    local idle = call('ZRANGEBYSCORE', P .. 'groups', '-inf', '(' .. text(head), 'LIMIT', 0, limit)
    if #idle > 0 then call('ZREM', P .. 'groups', unpack(idle)) end
    if call('EXISTS', P .. 'groups') == 0 then call('HDEL', P .. 'order', 'groups') end
  end
end

local function forget_waiters()
  call('ZREMRANGEBYSCORE', P .. 'waiters', '-inf', text(now))
  if call('EXISTS', P .. 'waiters') == 0 then call('HDEL', P .. 'settings', 'waiters') end
end

local promoted = promote()
local reaped, session = reap()
local age, count = keep_limits(settings[1], settings[2], DAY)
local trimmed = trim('completed', age, count) + trim('cancelled', age, count)
trimmed = trimmed + trim('dead', keep_limits(settings[3], settings[4], 90 * DAY))
forget_order()
if settings[5] then forget_waiters() end
-- (Also for a wake-up that went down with the thread that had it.)
if not settings[6] and call('EXISTS', P .. 'ready') == 1 then wake(P) end
return {now, more, next_due or -1, promoted, reaped, trimmed, session}
