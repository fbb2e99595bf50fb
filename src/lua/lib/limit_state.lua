-- Limits: how many tasks of a queue, or of a group in it, run at once and start in a period; and the time before which
-- none of them starts, a pause. No script reads any of this while settings.in_force is absent.
--
-- To park a task is to move it from `ready` to `parked`; to unpark it is to move it back. A place is the score in
-- `ready` with which a task came. Tasks of a group that has parked or unparked tasks start in the order of their
-- places, whatever their scores in `ready` are since then. A slot is one unit of the concurrency of a group.
--
--   settings         in_force: letters for what is on:
--                      c  the queue's concurrency
--                      q  its rate, or a pause of the queue for a time
--                      g  a limit or pause of groups; also while groups are in limit_due or limit_dirty
--                      s  the concurrency of groups: tasks are counted in running_group
--                      t  limits of types, see below; k: of limit keys
--                      b  circuit breakers (lib/breaker.lua). While there is one for the queue, `q` may lag behind
--                      e  events (lib/event.lua). They are no limit, but need the careful path of turn.lua, too
--                    concurrency, rate, paused_until, group_concurrency, group_rate
--                    group_strict: each group is strict, see below
--                    types: "1": a type has, or had, a limit; keys: a limit key
--   limits hash      c:<group>, r:<group>: a group's own concurrency (-1: none) and rate ("": none); s:<group>: whether
--                    it is strict ("1", "0")
--   limited zset     the groups with limits of their own, by name
--   limit_state hash running: how many tasks of the queue run; tat: the clock of its rate, see below; opens: when
--                    maintain.lua is to wake a thread for the queue again; counting: where the count of tasks that ran
--                    before a limit was set is to go on (lib/count_page.lua); again: limits changed while groups of an
--                    earlier change were in limit_dirty (lib/unpark_groups.lua); debt: the most units that a task
--                    took of a rate besides the first one
--   running_group    hash: id -> groups, of the tasks that have slots: each counts for the concurrency of these groups.
--                    They run, or they are of strict groups and wait for another attempt. A zero byte is between two
--                    groups
--   group_running    hash: group -> how many slots are taken
--   rates zset       group -> the clock of its rate
--   paused_groups    zset: group -> the time before which none of its tasks starts
--   parked zset      id -> place, of tasks that would be ready if their group were not paused or at a limit;
--                    parked:<group> zset: the same of one group
--   parked_first:<group>  zset: id -> place, of those of its parked tasks that had a slot when they were parked
--   unparked:<group> zset: id -> place, of its tasks in `ready` that were parked or given back before
--   limit_due zset   group with parked or unparked tasks -> when maintain.lua is to look at it again; LATEST: no time
--                    is known, and the end of one of its tasks lets the next one start
--   limit_dirty zset groups that maintain.lua is to look at because limits have changed
--
-- A strict group is serial under failures, too: it waits for the task that started last until that has ended. The task
-- keeps its slot (lib/slot.lua) while it runs, waits for a retry or snooze, is given back, or is blocked by parents
-- that depend.lua added; it starts again before all others. A task that blocks itself (block.lua) gives its slot up.
--
-- Virtual groups: while a type has a limit, each task is also of the group `type:<type>`; while a limit key has one, each
-- task is of a group `key:<key>` for each of its limit keys. A virtual group has only limits of its own, no order and no
-- breaker, and is never strict. So a task can be of several groups (groups_of in lib/group_place.lua). It starts when
-- all of them have room, and counts for all. Until then it is parked under the first of them that does not let it start,
-- and takes nothing of the others; when that group unparks it, another one may park it again.
--
-- A rate "count period burst" is kept by the generic cell rate algorithm (ITU-T I.371, 1993). A clock, the theoretical
-- arrival time, is moved on by a step of period / count for each task that starts; it may be ahead of now by `burst`
-- steps. Times here are whole ms. If the step is shorter than a ms, tasks of some ms start together. A task with a cost
-- starts as if it had the cost 1, and moves the clock on by that many steps: it may then be further ahead.
--
-- requires: add_to, base, event, group_place, sequence, slot, wake_all, wake_one, transitions
-- gives: BREAKER, CONCURRENCY, PAUSED_UNTIL, RATE, ROOMS_MAX, call_first, change_in_force, drop_strays, has_slot_in
-- gives: limit_state
-- gives: group_room, look, look_again, rate_clock, is_half_open, rate_opens, rate_room, renew_in_force, release
-- fields: base, pace, unparked, free, lag, made, now, rest, room, rooms, rules, step, strays, strict, tries, used, waiting

local TOGETHER = 5
local function rate_room(P, rate, tat, now)
  local count, period, burst = match(rate, '^(%d+) (%d+) (%d+)$')
  count, period, burst = number_of(count, 1), number_of(period, 1), number_of(burst, 1)
  if not (count and period and burst) then return math.huge end
  local r = {step = period / count}
  r.lag = burst * r.step
  if r.step < 1 then r.lag = max(r.lag, TOGETHER) end
  -- A clock that is further ahead of now than starts can put it belongs to another time, or to a slower rate. In this
  -- order max() returns `now` for what is not a number.
  r.base = max(now, tonumber(tat) or 0)
  local beyond = r.base - now - r.lag - 1000
  if beyond > 0 and beyond > (number_of(call('HGET', P .. 'limit_state', 'debt'), 0) or 0) * r.step then r.base = now end
  -- Clocks are kept to a microsecond.
  r.room = max(0, math.floor((now + r.lag - r.base + 0.001) / r.step))
  return r.room, r
end

-- When the rate lets more tasks start after `used` of them: not the next one, but as many as come together in WHILE ms,
-- and no more than the burst. Each such time has maintain.lua look and wake a thread.
local WHILE = 20
local function rate_opens(r, used)
  local n = max(1, min(math.floor(r.lag / r.step + 0.001), math.floor(WHILE / r.step)))
  return math.ceil(r.base + (used + n) * r.step - r.lag)
end

local function rate_clock(r, used)
  return string.format('%.3f', r.base + used * r.step)
end

-- The settings from which limits are read, by place as HMGET returns them: settings[PAUSED_UNTIL]; false if not set.
local CONCURRENCY, RATE, PAUSED_UNTIL, GROUP_CONCURRENCY, GROUP_RATE, EVENTS_ON, EVENTS_UNTIL, GROUP_STRICT = 1, 2, 3, 4, 5, 6, 7, 8
local BREAKER, GROUP_BREAKER, TYPES, LIMIT_KEYS = 9, 10, 11, 12

-- A value that is no limit, which another program wrote, counts as absent.
local function limit_settings(P)
  local s = call('HMGET', P .. 'settings', 'concurrency', 'rate', 'paused_until', 'group_concurrency', 'group_rate',
    'events', 'events_until', 'group_strict', 'breaker', 'group_breaker', 'types', 'keys')
  if s[CONCURRENCY] then s[CONCURRENCY] = number_of(s[CONCURRENCY], 0) end
  if s[GROUP_CONCURRENCY] then s[GROUP_CONCURRENCY] = number_of(s[GROUP_CONCURRENCY], 0) end
  return s
end

-- made: how many rooms were read in this call. A call that has read ROOMS_MAX of them comes to an end.
local ROOMS_MAX = 300
local function limit_state(P, now)
  return {P = P, now = now, rooms = {}, made = 0, rules = limit_settings(P)}
end

-- Whether the breaker of the queue ("q") or of a group ("g:<group>") is open or half-open (lib/breaker.lua).
local function is_half_open(P, scope)
  local state = call('HGET', P .. 'breakers', scope)
  return state and not find(state, '^c') and true or false
end

-- Returns what is known of a group in this call, a room. free: how many tasks may start, used: how many of these have;
-- rest: the same as free without the concurrency, for a task that has a slot; strict; pace: of the rate, from
-- rate_room; ends: when its pause ends; tries: its breaker is not closed, so that one task may start; waiting,
-- unparked: how many tasks are parked and unparked.
local function group_room(g, group)
  local known = g.rooms[group]
  if known then return known end
  local P, now = g.P, g.now
  -- Limits of all groups do not apply to virtual ones.
  local s = is_virtual(group) and {} or g.rules
  local own = call('HMGET', P .. 'limits', 'c:' .. group, 'r:' .. group, 's:' .. group)
  local room = {free = math.huge, used = 0, strict = (own[3] or s[GROUP_STRICT]) == '1'}
  local concurrency = room.strict and 1 or own[1] and number_of(own[1], -1) or s[GROUP_CONCURRENCY] or -1
  if concurrency >= 0 then room.free = concurrency - (tonumber(call('HGET', P .. 'group_running', group)) or 0) end
  -- What the rate, a pause and the breaker let start: the concurrency does not matter to a task that has its slot.
  local rest = math.huge
  local rate = own[2] or s[GROUP_RATE] or ''
  if rate ~= '' then
    local free, r = rate_room(P, rate, call('ZSCORE', P .. 'rates', group), now)
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
  g.rooms[group], g.made = room, g.made + 1
  return room
end

-- When maintain.lua is to look at a group again, after `used` tasks have started or are unparked.
local function look_again(room, used)
  if room.ends then return room.ends end
  if room.pace and used >= room.pace.room then return rate_opens(room.pace, used) end
  return LATEST
end

-- Unparks tasks of a group: they are in `ready` again, as if the group had come now. places: theirs, ascending.
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
  -- Tasks that come to the group later are behind these.
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

-- Whether a value of `running_group` has this group.
local function has_slot_in(record, group)
  for one in groups_in(record) do
    if one == group then return true end
  end
end

-- Returns the first parked task that has the slot of a strict group, and its place. It was parked because a pause or a
-- rate did not let it start; it starts before all others, whatever their places are.
local function parked_holder(P, group)
  while true do
    local first = call('ZRANGE', P .. 'parked_first:' .. group, 0, 0)[1]
    if not first then return end
    local place = call('ZSCORE', P .. 'parked', first)
    if place and has_slot_in(call('HGET', P .. 'running_group', first), group) then return first, tonumber(place) end
    call('ZREM', P .. 'parked_first:' .. group, first)
  end
end

-- Removes those of ids that are not in `set` from `index`, the part of `set` that belongs to a group. Such strays exist
-- because only a task's envelope names its group: after another program has overwritten it, a script that moves the
-- task does not find the group. Returns the scores of ids in `set`, false where there is none, and the number of
-- strays.
local function drop_strays(P, set, index, ids)
  local known, strays = call('ZMSCORE', P .. set, unpack(ids)), {}
  for i = 1, #ids do
    if not known[i] then strays[#strays + 1] = ids[i] end
  end
  if #strays > 0 then call('ZREM', P .. index, unpack(strays)) end
  return known, #strays
end

-- Returns which parked tasks of a group may start now, at most `most`, and their places.
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

-- Looks at a group: unparks as many of its tasks as may start now, at most `most`, and sets when maintain.lua is to
-- look at it again. Returns how many were unparked.
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


-- Sets settings.in_force from the limits, breakers and events that are on, removes counts and clocks that no limit
-- needs any more, and wakes all idle threads if something is on: they are not handed tasks then.
local function renew_in_force(P)
  local s = limit_settings(P)
  local own = call('EXISTS', P .. 'limits') == 1
  local flags = ''
  local function is_busy()
    return call('EXISTS', P .. 'paused_groups', P .. 'limit_due', P .. 'limit_dirty') > 0
  end
  if s[CONCURRENCY] then flags = 'c' else call('HDEL', P .. 'limit_state', 'running') end
  if s[RATE] or s[PAUSED_UNTIL] then flags = flags .. 'q' else call('HDEL', P .. 'limit_state', 'opens') end
  if s[GROUP_CONCURRENCY] or s[GROUP_RATE] or s[GROUP_STRICT] or s[GROUP_BREAKER] or own or is_busy() then
    flags = flags .. 'g'
  end
  if s[GROUP_CONCURRENCY] or s[GROUP_STRICT] or s[GROUP_BREAKER] or own then
    flags = flags .. 's'
  else
    call('UNLINK', P .. 'running_group', P .. 'group_running')
    call('HDEL', P .. 'limit_state', 'counting')
  end
  for i, kind in ipairs({'type', 'key'}) do
    if s[TYPES - 1 + i] then
      if has_limited(P, kind) or is_busy() then
        flags = flags .. sub(kind, 1, 1)
      else
        call('HDEL', P .. 'settings', kind .. 's')
      end
    end
  end
  if s[BREAKER] or s[GROUP_BREAKER] then flags = flags .. 'b' end
  if s[EVENTS_ON] or s[EVENTS_UNTIL] then flags = flags .. 'e' end
  local by_group = s[GROUP_RATE] or own
  if not by_group then call('UNLINK', P .. 'rates') end
  if not s[RATE] then call('HDEL', P .. 'limit_state', 'tat', by_group and 'tat' or 'debt') end
  if flags == '' then
    call('HDEL', P .. 'settings', 'in_force')
  else
    call('HSET', P .. 'settings', 'in_force', flags)
    wake_all(P)
  end
  return flags
end

-- The same after a change by hand. Where groups, types or limit keys begin to be counted, what runs is counted anew.
-- Returns the flags.
local function change_in_force(P)
  local before = call('HGET', P .. 'settings', 'in_force') or ''
  local flags = renew_in_force(P)
  for letter in string.gmatch(find(flags, 's', 1, true) and flags or '', '[stk]') do
    if not find(before, letter, 1, true) then call('HSET', P .. 'limit_state', 'counting', '- 0') end
  end
  return flags
end

-- Tasks that ran go back to the front of the queue (lib/requeue_front.lua). This puts them first in their groups, too,
-- if these have parked or unparked tasks. Call it before release.
local function call_first(P, ids, envelopes, flags)
  if not find(flags, 'g', 1, true) then return end
  for i = #ids, 1, -1 do
    local group = header(envelopes[i]).group
    local parked, unparked = group and P .. 'parked:' .. group, group and P .. 'unparked:' .. group
    if group and call('EXISTS', parked, unparked) > 0 then
      local base = (header(envelopes[i]).priority or 0) * BAND
      local first = base + @SCORE_START@
      for _, set in ipairs({parked, unparked}) do
        local head = call('ZRANGEBYSCORE', set, text(base), '(' .. text(base + BAND), 'WITHSCORES', 'LIMIT', 0, 1)[2]
        if head then first = min(first, tonumber(head)) end
      end
      call('ZADD', unparked, text(max(base, first - 1)), ids[i])
    end
  end
end

-- Tasks do not run any more: they leave the counts and their slots, and parked tasks of their groups may start. again:
-- they have not ended, so that they keep their slots in strict groups.
local function release(P, ids, now, flags, again)
  if #ids == 0 then return end
  if find(flags, 'c', 1, true) then add_to(P .. 'limit_state', 'running', -#ids) end
  if not find(flags, 's', 1, true) then return end
  local records, ended, slots, g = call('HMGET', P .. 'running_group', unpack(ids)), {}, {}, nil
  local before = again and limit_state(P, now)
  for i = 1, #ids do
    local kept = ''
    for group in groups_in(records[i]) do
      if again and group_room(before, group).strict then
        kept = kept .. '\0' .. group
      else
        ended[group] = (ended[group] or 0) + 1
      end
    end
    if kept == '' then
      slots[#slots + 1] = ids[i]
    elseif #kept <= #records[i] then
      call('HSET', P .. 'running_group', ids[i], sub(kept, 2))
    end
  end
  if not next(ended) then return end
  if #slots > 0 then call('HDEL', P .. 'running_group', unpack(slots)) end
  for group, count in pairs(ended) do
    if add_to(P .. 'group_running', group, -count) <= 0 then call('HDEL', P .. 'group_running', group) end
    if call('EXISTS', P .. 'parked:' .. group) == 1 then
      g = g or limit_state(P, now)
      if g.made < ROOMS_MAX then look(g, group, 100) else expect(P, group, now) end
    end
  end
end
