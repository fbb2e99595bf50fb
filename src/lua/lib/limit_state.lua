-- Limits: how many tasks of a queue, or of a group in it, run at once and start in a period, and before when none of
-- them starts. Nothing of this is looked at while settings.in_force is absent.
--
--   settings         in_force: which limits there are: c the queue's concurrency, q its rate or a pause for a time, g any
--                    limit of groups, also while groups that waited for one are still to be looked at, s the concurrency of
--                    groups; b: circuit breakers (lib/breaker.lua); e: events are on (lib/event.lua), which is no limit, but keeps turns from the common path as well
--                    concurrency, rate, paused_until, group_concurrency, group_rate
--                    group_strict: each group is strict, see below
--   limits hash      c:<group>, r:<group>: a group's own concurrency (-1: none) and rate ("": none); s:<group>: whether it is
--                    strict ("1", "0"); limited zset: those groups, by name
--   limit_state hash running: how many tasks run; tat: the rate's clock; opens: when maintain.lua is to look again;
--                    counting: not all tasks that ran before are counted yet (lib/count_page.lua)
--   running_group    hash: id -> group, of tasks that run and are counted, and of those of strict groups that wait for another
--                    attempt; group_running hash: group -> how many
--   rates zset       group -> its rate's clock; paused_groups zset: group -> not before this time
--   parked zset      id -> place, of ready tasks whose group is at its limit; parked:<group> zset: the same
--   parked_first:<group>  zset: id -> place, of those of its parked tasks that had a slot when they were parked
--   unparked:<group> zset: id -> place, of its tasks that were parked, or were given back, and stand in `ready`
--   limit_due zset   group with parked or unparked tasks -> when to look again; LATEST: when one of its tasks ends
--   limit_dirty zset groups to look at because limits have changed
--
-- A place is the score with which a task came. Tasks of a group that has parked or unparked ones start in the order of
-- their places, whatever their scores in `ready` are by now.
--
-- A strict group is serial under failures, too: it waits for the task that started last until that has ended, whether it
-- runs, is retried, snoozed, given back or blocked. Such a task keeps its slot (lib/slot.lua); it starts again whatever is
-- before it.
--
-- A rate "count period burst" is kept by the generic cell rate algorithm (ITU-T I.371, 1993): a clock, the theoretical
-- arrival time, runs ahead of now by period / count for each task; it may be ahead by `burst` of them. Where many tasks
-- start in a millisecond, which is as fine as time is here, some milliseconds of them are let through together.
--
-- requires: add_to, base, event, group_place, sequence, wake_all, wake_one, transitions
-- gives: BREAKER, CONCURRENCY, PAUSED_UNTIL, RATE, call_first, drop_strays, limit_state, group_room, look, look_again, rate_clock
-- gives: is_half_open, rate_opens, rate_room, renew_in_force, release
-- fields: base, pace, unparked, free, lag, now, rest, room, rooms, rules, step, strays, strict, tries, used, waiting

local TOGETHER = 5
local function rate_room(rate, tat, now)
  local count, period, burst = match(rate, '^(%d+) (%d+) (%d+)$')
  count, period, burst = tonumber(count), tonumber(period), tonumber(burst)
  if not count or not is_whole(count, 1, LATEST) or not is_whole(period, 1, LATEST) or not is_whole(burst, 1, LATEST) then
    return math.huge
  end
  local r = {step = period / count}
  r.lag = burst * r.step
  if r.step < 1 then r.lag = max(r.lag, TOGETHER) end
  -- A clock that is much further ahead than a start puts it is of another time, or of a slower rate.
  -- In this order max() returns `now` for what is not a number.
  r.base = max(now, tonumber(tat) or 0)
  if r.base > now + r.lag + 1000 then r.base = now end
  -- Clocks are kept to a microsecond.
  r.room = max(0, math.floor((now + r.lag - r.base + 0.001) / r.step))
  return r.room, r
end

-- When the rate lets more tasks start after `used` of them: as far as the burst allows, not for each of them but for
-- what comes together in a while, since each limit_due is tended to and wakes somebody.
local WHILE = 20
local function rate_opens(r, used)
  local n = max(1, min(math.floor(r.lag / r.step + 0.001), math.floor(WHILE / r.step)))
  return math.ceil(r.base + (used + n) * r.step - r.lag)
end

local function rate_clock(r, used)
  return string.format('%.3f', r.base + used * r.step)
end

-- The settings that limits are read from, as HMGET returns them: settings[PAUSED_UNTIL], false where it is not set.
local CONCURRENCY, RATE, PAUSED_UNTIL, GROUP_CONCURRENCY, GROUP_RATE, EVENTS_ON, EVENTS_UNTIL, GROUP_STRICT = 1, 2, 3, 4, 5, 6, 7, 8
local BREAKER, GROUP_BREAKER = 9, 10

-- What was written otherwise than by limit.lua, and is none, is no limit.
local function limit_settings(P)
  local s = call('HMGET', P .. 'settings', 'concurrency', 'rate', 'paused_until', 'group_concurrency', 'group_rate',
    'events', 'events_until', 'group_strict', 'breaker', 'group_breaker')
  if s[CONCURRENCY] then s[CONCURRENCY] = number_of(s[CONCURRENCY], 0) end
  if s[GROUP_CONCURRENCY] then s[GROUP_CONCURRENCY] = number_of(s[GROUP_CONCURRENCY], 0) end
  return s
end

local function limit_state(P, now)
  return {P = P, now = now, rooms = {}, rules = limit_settings(P)}
end

-- Whether a breaker was opened, of the queue ("q") or of a group ("g:<group>"), and has not closed: lib/breaker.lua.
local function is_half_open(P, scope)
  local state = call('HGET', P .. 'breakers', scope)
  return state and not find(state, '^c') and true or false
end

-- What is known of a group in this call: how many of its tasks may start (free, of which `used` have), how many are
-- parked and unparked, and what says when there will be more.
local function group_room(g, group)
  local known = g.rooms[group]
  if known then return known end
  local P, now, s = g.P, g.now, g.rules
  local own = call('HMGET', P .. 'limits', 'c:' .. group, 'r:' .. group, 's:' .. group)
  local room = {free = math.huge, used = 0, strict = (own[3] or s[GROUP_STRICT]) == '1'}
  local concurrency = room.strict and 1 or own[1] and number_of(own[1], -1) or s[GROUP_CONCURRENCY] or -1
  if concurrency >= 0 then room.free = concurrency - (tonumber(call('HGET', P .. 'group_running', group)) or 0) end
  -- But for the concurrency: a task that has its slot may start.
  local rest = math.huge
  local rate = own[2] or s[GROUP_RATE] or ''
  if rate ~= '' then
    local free, r = rate_room(rate, call('ZSCORE', P .. 'rates', group), now)
    room.pace, rest = r, free
  end
  local ends = number_of(call('ZSCORE', P .. 'paused_groups', group), 0)
  if ends and ends > now then
    room.ends, rest = ends, 0
  elseif s[GROUP_BREAKER] and is_half_open(P, 'g:' .. group) then
    room.tries, rest = true, min(rest, 1)
  end
  room.free, room.rest = min(room.free, rest), rest
  room.waiting, room.unparked = call('ZCARD', P .. 'parked:' .. group), call('ZCARD', P .. 'unparked:' .. group)
  g.rooms[group] = room
  return room
end

-- When a group is to be looked at again: used, of what is free, are on their way.
local function look_again(room, used)
  if room.ends then return room.ends end
  if room.pace and used >= room.pace.room then return rate_opens(room.pace, used) end
  return LATEST
end

-- Calls parked tasks: they stand in `ready` again, as if the group had come now. Places are ascending.
local function call_back(P, group, ids, places)
  local o, n = order_open(P), 0
  local last, scores, unparked = {}, {}, {}
  o.lanes = {}
  for i = 1, #ids do
    local priority = math.floor(places[i] / BAND)
    local base, lane = priority * BAND, text(priority) .. ';' .. group
    local before, gap = o.lanes[lane], STEP
    if before then
      gap = max(1, min(STEP, places[i] - last[priority]))
    else
      before = max(tonumber(call('ZSCORE', P .. 'groups', lane)) or base, virtual_time(o, priority))
    end
    o.lanes[lane] = min(max(places[i], before + gap), base + BAND - 1)
    last[priority] = places[i]
    scores[n + 1], scores[n + 2] = text(o.lanes[lane]), ids[i]
    unparked[n + 1], unparked[n + 2], n = text(places[i]), ids[i], n + 2
  end
  -- Whoever comes to the group later stands behind them.
  for priority in pairs(last) do
    local lane = text(priority) .. ':' .. group
    local known = tonumber(call('ZSCORE', P .. 'groups', lane)) or priority * BAND
    o.lanes[lane] = max(known, o.lanes[text(priority) .. ';' .. group])
  end
  order_save(o)
  leave_parked(P, ids)
  call('ZREM', P .. 'parked:' .. group, unpack(ids))
  call('ZADD', P .. 'unparked:' .. group, unpack(unparked))
  enter_ready(P, scores)
  tell(P, 'ready', ids)
  wake_one(P)
end

-- The first of the parked tasks that a strict group waits for, and its place: it was parked because a pause or a rate did
-- not let it start, and starts before all others, whatever their places are.
local function parked_holder(P, group)
  while true do
    local first = call('ZRANGE', P .. 'parked_first:' .. group, 0, 0)[1]
    if not first then return end
    local place = call('ZSCORE', P .. 'parked', first)
    if place and call('HGET', P .. 'running_group', first) == group then return first, tonumber(place) end
    call('ZREM', P .. 'parked_first:' .. group, first)
  end
end

-- Those of ids that are not in `set` leave `index`, the group's own part of it. Only a task's envelope names its group: when
-- another program overwrites that, whoever moves the task does not find its group. Returns whether each is in `set`.
local function drop_strays(P, set, index, ids)
  local known, strays = call('ZMSCORE', P .. set, unpack(ids)), {}
  for i = 1, #ids do
    if not known[i] then strays[#strays + 1] = ids[i] end
  end
  if #strays > 0 then call('ZREM', P .. index, unpack(strays)) end
  return known, #strays
end

-- Which parked tasks of a group may start now, at most `most`, and their places.
local function may_start(g, group, room, most)
  local ids, places = {}, {}
  if room.strict and room.free < 1 and room.waiting > 0 and room.rest - room.used >= 1 then
    ids[1], places[1] = parked_holder(g.P, group)
    if ids[1] then call('ZREM', g.P .. 'parked_first:' .. group, ids[1]) end
    return ids, places
  end
  local n = max(0, min(room.free - room.used - room.unparked, room.waiting, most))
  local found = n > 0 and call('ZRANGE', g.P .. 'parked:' .. group, 0, n - 1) or {}
  if #found == 0 then return ids, places end
  local known, strays = drop_strays(g.P, 'parked', 'parked:' .. group, found)
  room.waiting, room.strays = room.waiting - strays, strays > 0
  for i = 1, #found do
    if known[i] then ids[#ids + 1], places[#places + 1] = found[i], tonumber(known[i]) end
  end
  return ids, places
end

-- Calls as many parked tasks of a group as may start now, at most `most`. Returns how many.
local function look(g, group, most)
  local P, room = g.P, group_room(g, group)
  local ids, places = may_start(g, group, room, most)
  local n = #ids
  if n > 0 then
    call_back(P, group, ids, places)
    room.waiting, room.unparked = room.waiting - n, room.unparked + n
  end
  if room.waiting == 0 and room.free == math.huge then
    call('UNLINK', P .. 'unparked:' .. group)
    room.unparked = 0
  end
  if room.waiting == 0 and room.unparked == 0 then
    forget_group(P, group)
  elseif room.waiting > 0 and (n == most or room.strays) then
    expect(P, group, g.now)
  else
    expect(P, group, room.waiting > 0 and look_again(room, room.used + room.unparked) or LATEST)
  end
  return n
end


-- settings.in_force, from the limits that there are.
local function renew_in_force(P)
  local s = limit_settings(P)
  local own = call('EXISTS', P .. 'limits') == 1
  local flags = ''
  if s[CONCURRENCY] then flags = 'c' else call('HDEL', P .. 'limit_state', 'running') end
  if s[RATE] or s[PAUSED_UNTIL] then flags = flags .. 'q' else call('HDEL', P .. 'limit_state', 'opens') end
  if s[GROUP_CONCURRENCY] or s[GROUP_RATE] or s[GROUP_STRICT] or s[GROUP_BREAKER] or own or
    call('EXISTS', P .. 'paused_groups', P .. 'limit_due', P .. 'limit_dirty') > 0 then
    flags = flags .. 'g'
  end
  if s[GROUP_CONCURRENCY] or s[GROUP_STRICT] or s[GROUP_BREAKER] or own then
    flags = flags .. 's'
  else
    call('UNLINK', P .. 'running_group', P .. 'group_running')
    call('HDEL', P .. 'limit_state', 'counting')
  end
  if s[BREAKER] or s[GROUP_BREAKER] then flags = flags .. 'b' end
  if s[EVENTS_ON] or s[EVENTS_UNTIL] then flags = flags .. 'e' end
  if not s[RATE] then call('HDEL', P .. 'limit_state', 'tat') end
  if not (s[GROUP_RATE] or own) then call('UNLINK', P .. 'rates') end
  if flags == '' then
    call('HDEL', P .. 'settings', 'in_force')
  else
    call('HSET', P .. 'settings', 'in_force', flags)
    wake_all(P)
  end
  return flags
end

-- Tasks that ran go to the front (see requeue_front.lua): in their groups, too, they are first. Call this before release.
local function call_first(P, ids, envelopes, flags)
  if not find(flags, 'g', 1, true) then return end
  for i = #ids, 1, -1 do
    local group = group_of(envelopes[i])
    local parked, unparked = group and P .. 'parked:' .. group, group and P .. 'unparked:' .. group
    if group and call('EXISTS', parked, unparked) > 0 then
      local base = (header(envelopes[i]).priority or 0) * BAND
      local first = base + START
      for _, set in ipairs({parked, unparked}) do
        local head = call('ZRANGEBYSCORE', set, text(base), '(' .. text(base + BAND), 'WITHSCORES', 'LIMIT', 0, 1)[2]
        if head then first = min(first, tonumber(head)) end
      end
      call('ZADD', unparked, text(max(base, first - 1)), ids[i])
    end
  end
end

-- Of tasks that are to run again, by their groups: those of strict ones keep their slots.
local function without_strict(P, ids, groups, now)
  local g, others, theirs = limit_state(P, now), {}, {}
  for i = 1, #ids do
    if groups[i] and not group_room(g, groups[i]).strict then
      others[#others + 1], theirs[#theirs + 1] = ids[i], groups[i]
    end
  end
  return others, theirs
end

-- Tasks no longer run: what waited for their places may go on. again: they have not ended.
local function release(P, ids, now, flags, again)
  if #ids == 0 then return end
  if find(flags, 'c', 1, true) then add_to(P .. 'limit_state', 'running', -#ids) end
  if not find(flags, 's', 1, true) then return end
  local groups, ended, slots = call('HMGET', P .. 'running_group', unpack(ids)), {}, {}
  if again then ids, groups = without_strict(P, ids, groups, now) end
  for i = 1, #ids do
    if groups[i] then
      slots[#slots + 1] = ids[i]
      ended[groups[i]] = (ended[groups[i]] or 0) + 1
    end
  end
  if #slots == 0 then return end
  call('HDEL', P .. 'running_group', unpack(slots))
  local g
  for group, count in pairs(ended) do
    if add_to(P .. 'group_running', group, -count) <= 0 then call('HDEL', P .. 'group_running', group) end
    if call('EXISTS', P .. 'parked:' .. group) == 1 then
      g = g or limit_state(P, now)
      look(g, group, 100)
    end
  end
end
