#!lua flags=allow-oom
-- maintain: what a queue needs from time to time: due tasks become ready, the tasks of expired sessions go back to the
-- front, what was kept long enough goes.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the most tasks to touch of each kind, from 1 to 1000; fewer where the call has done enough (lib/budget.lua)
-- ARGV[2]  how long a session lives without a heartbeat, in ms, as the caller knows it; or absent
-- reply    [1] now in ms
--          [2] 1 when there is more to do at once
--          [3] when to come again, in ms since the epoch; -1: nothing is due
--          [4] tasks that became ready
--          [5] tasks recovered from dead workers
--          [6] records trimmed
--          [7] the session whose tasks these were, or ""
--          [8] the queue's policy (JSON), or ""
--          [9] recurring entries that are due, at most 50: {name, when in ms, the first line of its definition, ...};
--              see fire.lua
--          [10] how many messages to other queues there are (outbox.lua)
--          [11] the queue's result_max, or ""
--          [12] 1 when notices of this queue could not be sent (lib/base.lua) in the last hour: look every second
--          [13] until when sessions that expired while nobody maintained the queue are spared (lib/upkeep.lua), in ms
--               since the epoch; 0: there are none
--          [14] 1 when there are messages that were set aside (outbox.lua)
--
-- Sent twice: it does what is still to do.
-- require: upkeep, quiet
do
  local reply = quiet(KEYS[1], ARGV[1], ARGV[2])
  if reply then return reply end
end
-- require: base, wake_one
-- In a function, where the names above cost less to capture: see CONTRIBUTING.md.
return (function()
-- require: budget, sequence, requeue_front, retention, leases, event, history
return (function()
-- require: limit_state, listening, schedule, unique, dependency_edges, insert, death, fan_out, cancel_mark, deadline, cancelled, stats, readers
-- require: result_blocks, tags, wake_all, wake_one

local P, limit = KEYS[1], nil
do
-- require: whole
  limit = whole(ARGV[1], 1, INT64)
  if not limit or ARGV[2] and not whole(ARGV[2], 0, INT64) then
    return redis.error_reply('ERR @NAME@: it takes the most tasks to touch, and the life of a session in ms or nothing')
  end
  limit = math.min(limit, @CALL_MAX@)
-- require: expect
  local fault = unfit(P)
  if fault then return fault end
end
local now = clock()
local settings = call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'completed_bytes', 'waiters',
  'paused', 'large', 'gate', 'policy', 'hold', 'result_max', 'dead_age', 'dead_count', 'unsent', 'upkeep', 'back')
-- Whoever reads envelopes to see their headers reads few of them where they may be large.
if settings[6] then limit = math.min(limit, 8) end
local more, next_due, spared = 0, nil, 0
-- Who looks after the queue: sessions that expired after `since` are spared until `ends`. changed: whether it may be that
-- nothing has a time any more, so that it need not be known.
local watch = {since = now, ends = 0}
function watch.is_needed()
  return settings[9] or call('EXISTS', P .. 'sessions', P .. 'scheduled', P .. 'holds', P .. 'cron:due') > 0
end

do
-- require: set_back
  local upkeep, back
  local life = ARGV[2] and math.min(tonumber(ARGV[2]), LATEST / 2)
  if settings[14] then
    upkeep, watch.since, watch.ends, back = look_after(settings[14], now, life)
  elseif life and watch.is_needed() then
    upkeep = look_after(nil, now, life)
  end
  local last, before = string.match(settings[14] or '', '^(%d+) (%d+)')
  local longest = math.max(life or 0, tonumber(before) or 0)
  -- A step comes after what an earlier one left to do. Until then `upkeep` stays, by which it is seen.
  local waits = back and settings[15]
  if waits then upkeep, back = nil, nil end
  if (back or settings[15]) and set_back(P, now, settings, back, longest, tonumber(last)) or waits then more = 1 end
  if upkeep then call('HSET', P .. 'settings', 'upkeep', upkeep) end
  watch.changed = upkeep or settings[14] and settings[9]
end
know_gate(P, settings[7])

local function due_at(time)
  if time then next_due = math.min(next_due or time, time) end
end

local function first_score(set)
  return tonumber(call('ZRANGE', P .. set, 0, 0, 'WITHSCORES')[2])
end

-- The place of a task that was put off (lib/flagged.lua); false: the order has begun again since, and all that waits came
-- later; nil: it has none.
local function place_of(id)
  local known = call('HGET', P .. 'info:' .. id, 'place')
  if not known then return end
  call('HDEL', P .. 'info:' .. id, 'place')
  local place, epoch = string.match(known, '^(%-?%d+) (.+)$')
  return place and call('HGET', P .. 'order', 'epoch') == epoch and text(tonumber(place))
end

local function promote()
  local most = budget.room(6, 1, limit)
  local ids = call('ZRANGEBYSCORE', P .. 'scheduled', '-inf', '(' .. text(now + 1), 'LIMIT', 0, most)
  if #ids > 0 then
    local envelopes = call('HMGET', P .. 'tasks', unpack(ids))
    local order, ready, promoted, malformed, first, first_envelopes = order_open(P), {}, {}, {}, {}, {}
    local count = #ids
    for i = 1, #ids do
      if i > 10 and budget.left <= 0 or #malformed >= 10 and 20 * #malformed > budget.left then
        count = i - 1
        break
      end
      local o = envelopes[i] and header(envelopes[i], ids[i])
      if o and o.malformed then
        malformed[#malformed + 1] = {ids[i], o.malformed}
      elseif o then
        local place
        if has_info(envelopes[i]) then place = place_of(ids[i]) end
        if place == false then
          first[#first + 1], first_envelopes[#first_envelopes + 1] = ids[i], envelopes[i]
        else
          ready[#ready + 1] = place or text(next_score(order, o.priority, o.group, o.weight))
          ready[#ready + 1] = ids[i]
        end
        promoted[#promoted + 1] = ids[i]
      end
    end
    budget.left = budget.left - count
    call('ZREMRANGEBYRANK', P .. 'scheduled', 0, count - 1)
    if #ready > 0 then
      order_save(order)
      call('ZADD', P .. 'ready', unpack(ready))
    end
    requeue_front(P, first, first_envelopes)
    tell(P, 'ready', promoted)
    for _, task in ipairs(malformed) do dies(P, task[1], now, 'malformed', task[2]) end
    if #ids == most or count < #ids then more = 1 end
    return #promoted
  end
  return 0
end

-- A session is reaped in steps: first its hash is renamed, so that from then on it holds nothing and none of its
-- outcomes is accepted; its place in `sessions` stays, at 0, until its last task is back.
-- (Lua allows a script 200 local names: what only this needs stands in it.)
local function reap()
-- require: once, drop_session
  local function crashed(id, alone)
    local info = P .. 'info:' .. id
    local known = call('HMGET', info, 'crashes', 'history')
    local history = history_with(known[2], history_line(now, 'recovered'))
    call('HSET', info, 'crashes', text(count_of(known[1]) + 1), 'history', history)
    if alone then call('HSET', info, 'alone', '1') end
  end

  -- The suspect that the session held (lib/flagged.lua), and how: "alone": nothing else that it held had begun; "": this one
  -- had not. nil: there is none, or it proves nothing. (In later steps it may be back already: the first one has looked
  -- whether the session held it.)
  local function suspect_of(lost)
    local id, how = string.match(call('HGET', lost, '#suspect') or '', '^(%S+) ?(%a*)$')
    if not id or how == 'beside' then return nil end
    if call('HEXISTS', lost, '#') == 1 and call('HEXISTS', lost, id) == 0 then return nil end
    return id, how
  end

  local spares = now < watch.ends
  local expired = call('ZRANGEBYSCORE', P .. 'sessions', '-inf', text(spares and math.min(now, watch.since) or now),
    'LIMIT', 0, 1)
  local session = expired[1]
  if not session then
    local first = first_score('sessions')
    if first and first <= now then spared = watch.ends end
    due_at(first and math.max(first, spares and watch.ends or first))
    return 0, ''
  end
  local running, lost = P .. 'running:' .. session, P .. 'lost:' .. session
  act_as(running)
  if call('EXISTS', running) == 1 then
    acting()
    call('RENAME', running, lost)
    forget_idle(P, session)
  end
  local woken = forget_woken(P, session)
  call('ZADD', P .. 'sessions', 0, session)
  local suspect, how = suspect_of(lost)
  call('HDEL', lost, '#', '#flushed', suspect and '#' or '#suspect')
  local most = budget.room(settings[7] and 28 or 16, 8, limit)
  -- What comes back later comes before what came back now: so the newest first, of those that there are of a usual worker.
  local leases = leases_of(lost, 300)
  budget.left = budget.left - math.floor(#leases / 2)
  if #leases > most then leases = {unpack(leases, #leases - most + 1)} end
  if #leases > 0 then
    budget.left = budget.left - 8 * #leases
    local ids = {}
    for i = 1, #leases do ids[i] = leases[i][1] end
    local envelopes = call('HMGET', P .. 'tasks', unpack(ids))
    local back, back_envelopes, untaken, crashes = {}, {}, forget_handed(P, session, leases), 0
    local gone, cancelled = {}, {}
    for i = 1, #ids do
      local begun = not untaken[ids[i]] and (not suspect or (ids[i] == suspect) == (how == 'alone'))
      if begun then crashes = crashes + 1 end
      if begun and envelopes[i] then crashed(ids[i], how == 'alone') end
      if not envelopes[i] or is_cancelled(envelopes[i]) then
        gone[#gone + 1] = ids[i]
        if envelopes[i] then cancelled[#cancelled + 1] = {ids[i], envelopes[i]} end
      else
        if not untaken[ids[i]] then envelopes[i] = has_begun(P, ids[i], envelopes[i]) end
        if begun then mark_info(P, ids[i], envelopes[i]) end
        back[#back + 1] = ids[i]
        back_envelopes[#back_envelopes + 1] = envelopes[i]
      end
    end
    call('HDEL', lost, unpack(ids))
    if settings[7] then
      call_first(P, back, back_envelopes, settings[7])
      release(P, back, now, settings[7], true)
      release(P, gone, now, settings[7])
    end
    tell_as(P, 'recovered', back)
    requeue_front(P, back, back_envelopes)
    for _, task in ipairs(cancelled) do
      end_cancelled(P, task[1], task[2], now)
      notify(P, {task[1]}, 'cancelled')
    end
    if crashes > 0 then
      redis.pcall('HINCRBY', P .. 'counters', 'crashed', crashes)
      add_stats(P, now, 'crashed', crashes)
    end
  end
  -- Without leases it has nothing but what is kept about the session.
  local left = call('HLEN', lost)
  if left > 0 and (#leases == 0 or left <= 16 and #leases_of(lost, 16) == 0) then
    drop_session(P, lost)
    left = 0
  end
  local keys = free_keys(P, session, budget.room(4, 8, limit))
  if not keys and not woken and left == 0 then call('ZREM', P .. 'sessions', session) end
  more = 1
  return #leases, session
end

-- A task that waits past its deadline dies of it. (What is not here any more has begun.)
local function expire(ids)
-- require: task_state, control
  act_as(false)
  local words = 'not begun by its deadline'
  for i, id in ipairs(ids) do
    if i > 10 and budget.left <= 0 then
      more = 1
      return
    end
    local envelope = call('HGET', P .. 'tasks', id)
    local state = envelope and task_state(P, id)
    if is_waiting(state) and deadline_of(envelope) then
      leave_place(P, id, state, envelope)
      mark_info(P, id, has_begun(P, id, envelope))
      dies(P, id, now, 'expired', words)
    else
      call('ZREM', P .. 'deadlines', id)
    end
  end
end

local function expire_some()
  local head = first_score('deadlines')
  if head and head <= now then
    local most = budget.room(8, 10, limit)
    local ids = call('ZRANGEBYSCORE', P .. 'deadlines', '-inf', text(now), 'LIMIT', 0, most)
    expire(ids)
    if #ids == most then more = 1 end
  end
  return head
end

local function trim(set, age, count)
  local most = budget.room(set == 'completed' and 2 or 4, 25, limit)
  local trimmed, all = trim_count(P, set, count, most, now)
  if age >= 0 then
    local ids = call('ZRANGEBYSCORE', P .. set, '-inf', text(now - age), 'LIMIT', 0, most)
    if #ids > 0 then
      all = readers.forget_first(P, set, ids, most) and all
      trimmed = trimmed + #ids
    end
    local oldest = first_score(set)
    if oldest then due_at(oldest + age) end
  end
  budget.left = budget.left - trimmed
  if trimmed >= most or not all then more = 1 end
  return trimmed
end

-- Where results are kept by their bytes: those that had ended before that was said are counted first, in steps; before
-- that, bundles of them are taken apart.
local function trim_results(most)
-- require: results
  local cursor = call('HGET', P .. 'result_sizes', '@')
  local bundled = call('EXISTS', P .. 'bundles') == 1
  if bundled then
    call('HDEL', P .. 'result_sizes', '@')
    cursor, bundled = nil, unbundle_some(P, limit)
    if bundled then more = 1 end
  end
  if not bundled and cursor ~= 'end' then
    local page = call('ZSCAN', P .. 'completed', cursor or '0', 'COUNT', budget.room(4, 25, limit))
    for i = 1, #page[2], 2 do
      local id = page[2][i]
      local bytes = call('HSTRLEN', P .. 'results', id)
      if bytes > 0 and call('HEXISTS', P .. 'result_sizes', id) == 0 then count_results(P, {id, bytes}) end
    end
    if page[1] ~= '0' then more = 1 end
    call('HSET', P .. 'result_sizes', '@', page[1] == '0' and 'end' or page[1])
  end
  local trimmed, left = trim_bytes(P, most, limit, now)
  if left then more = 1 end
  return trimmed
end

-- In a block, as a script has room for 200 locals.
local forget_order
do
  -- Groups are forgotten in the bands behind that of the head, too: those behind the head of their own, or all.
  local function forget_later_groups(band)
    local next_base = text((band + 1) * BAND)
    local last = call('ZRANGEBYSCORE', P .. 'groups', next_base, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
    if not last then return end
    band = math.floor(tonumber(last) / BAND)
    local behind = text(head_score(P, band * BAND) or (band + 1) * BAND)
    local idle = call('ZRANGEBYSCORE', P .. 'groups', text(band * BAND), '(' .. behind, 'LIMIT', 0, limit)
    if #idle > 0 then call('ZREM', P .. 'groups', unpack(idle)) end
    if #idle == limit then more = 1 end
    if budget.left > 0 then return forget_later_groups(band) end
  end

  -- Groups that are behind the head, where no tasks are parked.
  local function forget_idle_groups(behind)
    local idle = math.min(call('ZCOUNT', P .. 'groups', '-inf', behind), limit)
    if idle > 0 then call('ZREMRANGEBYRANK', P .. 'groups', 0, idle - 1) end
    if idle == limit then more = 1 end
  end

  -- Those with parked tasks are moved to the head instead: what comes to them is to stand behind what they have.
  local function forget_groups_but_parked(head, behind)
    local most = budget.room(3, 16, limit)
    local first = math.random(0, math.max(0, call('ZCOUNT', P .. 'groups', '-inf', behind) - most))
    local idle = call('ZRANGEBYSCORE', P .. 'groups', '-inf', behind, 'WITHSCORES', 'LIMIT', first, most)
    local band = math.floor(head / BAND)
    for i = 1, #idle, 2 do
      local lane = idle[i]
      if call('EXISTS', P .. 'parked:' .. string.match(lane, '^%-?%d+[:;](.*)$')) == 0 then
        call('ZREM', P .. 'groups', lane)
      elseif math.floor(tonumber(idle[i + 1]) / BAND) == band then
        call('ZADD', P .. 'groups', text(head), lane)
      end
    end
  end

  -- With nothing waiting, the virtual time starts again; else groups that are behind the head are forgotten.
  local function forget_groups(head)
    local behind = '(' .. text(head)
    if call('EXISTS', P .. 'parked') == 1 then
      forget_groups_but_parked(head, behind)
    else
      forget_idle_groups(behind)
      forget_later_groups(math.floor(head / BAND))
    end
    if call('EXISTS', P .. 'groups') == 0 then call('HDEL', P .. 'order', 'groups') end
  end

  function forget_order()
    local head = first_score('ready')
    if head then
      if call('EXISTS', P .. 'groups') == 1 then forget_groups(head) end
    elseif call('EXISTS', P .. 'parked') == 0 then
      call('UNLINK', P .. 'order', P .. 'groups')
      if tells(P) then call('HSET', P .. 'order', 'events', '1') end
      if settings[6] and call('EXISTS', P .. 'tasks') == 0 then call('HDEL', P .. 'settings', 'large') end
    end
  end
end

-- Where records came to go with the end of a task after it was enqueued (turn.lua does not look then), the index has
-- what is gone: looks through a part of it.
local function tidy_tags()
  local tag = call('ZRANDMEMBER', P .. 'tags')
  if not tag then return end
  local ids, gone = call('ZRANDMEMBER', P .. 'tag:' .. tag, budget.room(2, 16, limit)), {}
  for i = 1, #ids do
    if call('HEXISTS', P .. 'tasks', ids[i]) == 0 then gone[#gone + 1] = ids[i] end
  end
  if #gone > 0 then unindex_tag(P, tag, unpack(gone)) end
end

-- Members whose time is over go.
local function forget_past(set)
  local past = call('ZRANGEBYSCORE', P .. set, '-inf', text(now), 'LIMIT', 0, limit)
  if #past > 0 then call('ZREM', P .. set, unpack(past)) end
  if #past == limit then more = 1 end
end

local function forget_waiters()
  forget_past('waiters')
  if call('EXISTS', P .. 'waiters', P .. 'linked') == 0 then call('HDEL', P .. 'settings', 'waiters') end
end

-- Groups whose tasks are parked: those whose time has come, and those whose limits have changed.
local function open_groups()
-- require: strays
  if tidy_groups(P, limit) then more = 1 end
  local g = limit_state(P, now)
  local left, seen = limit, 0
  local function look_at(group)
    local called = look(g, group, math.min(limit, math.max(left, 1)))
    left, seen = left - called, seen + 1
    budget.left = budget.left - 2 * called
    return left <= 0 or seen >= 8 and budget.left <= 0
  end
  for _, group in ipairs(call('ZRANGE', P .. 'reopening', 0, limit - 1)) do
    call('ZREM', P .. 'reopening', group)
    more = 1
    if look_at(group) then return end
  end
  if call('EXISTS', P .. 'reopening') == 0 and call('HDEL', P .. 'gate', 'again') == 1
    and call('EXISTS', P .. 'opening') == 1 then
    call('RENAME', P .. 'opening', P .. 'reopening')
    more = 1
  end
  for _, group in ipairs(call('ZRANGEBYSCORE', P .. 'opening', '-inf', text(now), 'LIMIT', 0, limit)) do
    if look_at(group) then break end
  end
  local first = first_score('opening')
  if first and first < LATEST then due_at(first) end
end

-- Holds that are over, clocks of rates that stand; and when the queue opens, whose tasks then are for whoever waits.
-- Returns whether it is shut until a time.
local function tend_gate()
-- require: count_page, recount
  -- What leaves its slot lets a group go on in the next call.
  if find(settings[7], 's', 1, true) and call('HEXISTS', P .. 'gate', 'counting') == 1 then
    count_page(P, now, budget.room(4, 16, 200))
    more = 1
  end
  if recount(P, settings[7], now) then more = 1 end
  forget_past('holds')
  forget_past('rates')
  local hold = number_of(settings[9], 0) or nil
  if hold and hold <= now then
    call('HDEL', P .. 'settings', 'hold')
    settings[9] = false
  else
    due_at(hold)
  end
  local listening = number_of(call('HGET', P .. 'settings', 'events_until'), 0) or nil
  if listening and listening <= now then
    call('HDEL', P .. 'settings', 'events_until')
    switch_events(P)
  else
    due_at(listening)
    regate(P)
  end
  local opens = tonumber(call('HGET', P .. 'gate', 'opens'))
  if opens and opens <= now then
    call('HDEL', P .. 'gate', 'opens')
  else
    due_at(opens)
  end
  due_at(first_score('holds'))
  return (opens or 0) > now or (hold or 0) > now
end

local function due_entries()
  local head, entries = first_score('cron:due'), {}
  if not head or head > now then
    due_at(head)
    return entries
  end
  -- Of more than a page any: the first ones may be such that no worker understands, which stay due.
  -- That one is full: whoever gets a full page comes again at once.
  local count = call('ZCOUNT', P .. 'cron:due', '-inf', text(now))
  local first = text(math.max(0, math.min(@CRON_DUE_MAX@ * (now % math.ceil(count / @CRON_DUE_MAX@)), count - @CRON_DUE_MAX@)))
  local due = call('ZRANGEBYSCORE', P .. 'cron:due', '-inf', text(now), 'WITHSCORES', 'LIMIT', first, @CRON_DUE_MAX@)
  for i = 1, #due, 2 do
    local definition = call('HGET', P .. 'cron', due[i])
    if definition then
      local n = #entries
      entries[n + 1], entries[n + 2] = due[i], due[i + 1]
      entries[n + 3] = sub(definition, 1, (find(definition, '\n', 1, true) or 0) - 1)
    else
      call('ZREM', P .. 'cron:due', due[i])
    end
  end
  due_at(tonumber(call('ZRANGEBYSCORE', P .. 'cron:due', '(' .. text(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]))
  return entries
end

-- Whether a notice could not be sent in the last hour.
local function is_unsent()
  local last = tonumber(settings[13])
  if not last then return 0 end
  if math.abs(now - last) < 3600000 then return 1 end
  call('HDEL', P .. 'settings', 'unsent')
  return 0
end

-- Returns how many records went.
local function trim_all()
  local age, count = keep_limits(settings[1], settings[2], DAY)
  local trimmed = trim('completed', age, count) + trim('cancelled', age, count)
  if settings[3] then trimmed = trimmed + trim_results(number_of(settings[3], 0) or LATEST) end
  return trimmed + trim('dead', keep_limits(settings[11], settings[12], 90 * DAY))
end

-- Due tasks, tasks of expired sessions, deadlines, ends that are to be told. Returns how many tasks became ready and came
-- back, the session whose these were, and how many ends are left.
local function move_tasks()
  local promoted = promote()
  local reaped, session = reap()
  local deadlines = expire_some()
  -- Before the records that go: some of those that are told end. And before it is known what is due next.
  local fans = call('EXISTS', P .. 'fanout', P .. 'fanout_far')
  if fans > 0 then
    if fan_some(P, now, budget.room(10, 40, limit), budget.room(32, 16, limit)) then more = 1 end
    fans = call('LLEN', P .. 'fanout')
  end
  -- What was put aside meanwhile is due. The reply cuts off what is behind the point of a time: lib/ties.lua.
  local first_due = first_score('scheduled')
  if first_due and first_due < now + 1 then more = 1 end
  due_at(first_due)
  if deadlines then due_at(first_score('deadlines')) end
  return promoted, reaped, session, fans
end

local promoted, reaped, session, fans = move_tasks()
local trimmed = trim_all()
if trimmed > 0 and call('LLEN', P .. 'fanout') > fans then more = 1 end
forget_order()
tidy_tags()
if settings[4] then forget_waiters() end
if call('EXISTS', P .. 'opening', P .. 'reopening', P .. 'rousing') > 0 then
  if wake_all(P, true) then more = 1 end
  open_groups()
end
local shut = settings[7] and tend_gate()
local lists, messages = call('EXISTS', P .. 'outbox', P .. 'unread'), 0
if lists > 0 then messages = call('LLEN', P .. 'outbox') end
local entries = due_entries()
if (watch.changed or settings[14] and promoted > 0) and not watch.is_needed() then
  call('HDEL', P .. 'settings', 'upkeep')
end
-- Also for a wake-up that went down with the thread that had it.
if not settings[5] and not shut and call('EXISTS', P .. 'ready') == 1 and wake_one(P) then more = 1 end
return {now, more, next_due or -1, promoted, reaped, trimmed, session, settings[8] or '', entries,
  messages, settings[10] or '', is_unsent(), spared, lists > (messages > 0 and 1 or 0) and 1 or 0}
end)()
end)()
