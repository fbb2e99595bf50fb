-- Leasing under limits, a part of the careful path of turn.lua. lib/limit_state.lua describes the limits and their
-- keys, and defines slot, place, park and room (group_room).
--
--   g, limits, bounds  what limit_state() returns, with: flags (settings.in_force), by_group (groups have limits),
--                      counting (limit_state.counting), left (how many tasks the concurrency of the queue lets start),
--                      pace (of its rate), tries (its breaker is half-open), admitted (leased tasks of groups), shut (a
--                      limit lets no more tasks start)
--   names, dealt       for each task that turn.lua is to lease, the name of the thread that it is for, behind `dealt`
--                      tasks that are leased already; names is nil if all are for one thread
--
-- requires: add_to, base, breaker, event, group_place, limit_state, segment, put_aside, transitions
-- gives: limits_admit, limits_open, limits_room, limits_take
-- fields: admitted, apart, by_group, bytes, envelopes, extras, flagged, flags, has_company, has_slot, ids, in_group
-- fields: leased, leaving, least, left, bounds, parks, shut, line, tries, want, written

local function limits_open(P, now, flags)
  local g = limit_state(P, now)
  g.flags, g.by_group, g.admitted, g.shut = flags, find(flags, 'g', 1, true), {}, false
  return g
end

-- Notes when the whole queue opens again; maintain.lua then wakes a thread.
local function opens(g, at)
  at = min(at, LATEST)
  local known = tonumber(call('HGET', g.P .. 'limit_state', 'opens'))
  if known and known > g.now and known <= at then return end
  call('HSET', g.P .. 'limit_state', 'opens', text(at))
  announce_due(g.P, at)
end

-- Returns how many tasks may be leased now, at most `want`; 0 if a limit or pause of the queue lets none start.
local function limits_room(g, want, names, dealt)
  local s = g.rules
  local free, known = want, call('HMGET', g.P .. 'limit_state', 'running', 'tat', 'counting')
  g.counting = known[3]
  if s[CONCURRENCY] then
    local left = tonumber(s[CONCURRENCY]) - (tonumber(known[1]) or 0)
    if left <= 0 then return 0 end
    -- What waits in one thread's batch counts as running. So that other threads get tasks, too, a call takes only one
    -- task for each of its threads (the names before the first is repeated), or 1/16 of what the concurrency still
    -- allows, if that is more.
    local each = 1
    while names and names[dealt + each + 1] and names[dealt + each + 1] ~= names[dealt + 1] do each = each + 1 end
    free = min(free, left, max(each, math.floor(left / 16)))
    g.left = left
  end
  local ends = number_of(s[PAUSED_UNTIL], 0)
  if ends and ends > g.now then
    opens(g, ends)
    return 0
  end
  if s[BREAKER] and is_half_open(g.P, 'q') then g.tries, free = true, 1 end
  if s[RATE] then
    local room
    room, g.pace = rate_room(s[RATE], known[2], g.now)
    if room < 1 then
      opens(g, rate_opens(g.pace, 0))
      return 0
    end
    free = min(free, room)
  end
  return free
end

-- Whether no task of the group is before this place. least: the first place of those that are to be parked in this
-- page.
local function is_first(g, group, room, place)
  if room.least and room.least < place then return false end
  if room.waiting == 0 and room.unparked == 0 then return true end
  for _, set in ipairs({'parked:', 'unparked:'}) do
    local first = call('ZRANGE', g.P .. set .. group, 0, 0, 'WITHSCORES')[2]
    if first and tonumber(first) < place then return false end
  end
  return true
end

-- ---- the head of the queue ------------------------------------------------------------------------------------------
-- A scan goes through `ready` in pages. Its fields:
--   bounds, P, running      the limits, the prefix, and the key of the session's hash
--   line                    a function: the text of the n-th lease
--   want, extras            as in lib/lease.lua
--   has_company             tasks were leased before in this call
--   flagged                 lib/flagged.lua
--   ids, envelopes, bytes   the tasks that are taken, and how many bytes their envelopes have
--   leased, written         how many of ids lease_page has dealt with, and how many leases it wrote: ids without an
--                           envelope, which belong to deleted tasks, get none
-- and of the present page:
--   leaving                 ids that leave `ready`
--   parks                   group -> members of `parked`: score, id, ...
--   apart                   ids of malformed tasks

-- The task waits in `parked` until its group may start it. is_awaited: it has the slot of its group.
local function park(scan, id, place, group, room, is_awaited)
  if is_awaited then call('ZADD', scan.P .. 'parked_first:' .. group, text(place), id) end
  local list = scan.parks[group] or {}
  list[#list + 1], list[#list + 2] = text(place), id
  scan.parks[group], scan.leaving[#scan.leaving + 1] = list, id
  room.least = min(room.least or place, place)
end

-- Postpones a suspect (a task that crashed twice), as this session may not run it beside another suspect; and a task
-- whose lease this session lost by hand. room: that of its group; false: it has none, or the task has its slot.
local function postpone(scan, id, place, group, room)
  local limits, flagged = scan.bounds, scan.flagged
  if room then
    room.off = limits.now + flagged.put_off
    park(scan, id, place, group, room)
  else
    flagged.off(scan.P, id, place, limits.now)
    scan.leaving[#scan.leaving + 1] = id
  end
end

-- Takes the task, to lease it. has_slot: it had its slot in the group before.
local function take(scan, id, envelope, group, room, has_slot)
  local ids, envelopes = scan.ids, scan.envelopes
  ids[#ids + 1], envelopes[#envelopes + 1], scan.leaving[#scan.leaving + 1] = id, envelope, id
  scan.bytes = scan.bytes + (envelope and #envelope or 0)
  if room then
    room.used = room.used + 1
    scan.bounds.admitted[#scan.bounds.admitted + 1] = {in_group = group, has_slot = has_slot, id = id}
  end
end

-- Decides whether the limits let the task start. "full": they do, but there are as many as are wanted; "park": they do
-- not; "stop", "off", "alone" and "take" as from flagged.weigh. place: the task's in its group. Returns whether the
-- task has its slot, too: a strict group waits for such a task, or did until its limits changed.
local function decide(scan, id, envelope, place, group, room)
  local limits, P = scan.bounds, scan.P
  local has_slot = room and (limits.counting or room.strict and room.free < 1) and call('HGET', P .. 'running_group', id) == group
  local is_free = not room or (has_slot and room.rest or room.free) - room.used >= 1
  if is_free and #scan.ids == scan.want then return 'full' end
  if not is_free or room and not has_slot and not is_first(limits, group, room, place) then return 'park', has_slot end
  if envelope and has_info(envelope) then
    local is_alone = #scan.ids == 0 and not scan.has_company
    return scan.flagged.weigh(P, scan.running, id, envelope, is_alone, scan.extras), has_slot
  end
  return 'take', has_slot
end

-- Looks at one member of `ready`, does with it what `decide` returned, and returns that. "aside": the task is
-- malformed.
local function weigh(scan, id, place, envelope)
  local limits, P, group, malformed = scan.bounds, scan.P
  if envelope then group, malformed = group_of(envelope) end
  if envelope and (malformed or is_no_id(id)) then
    scan.leaving[#scan.leaving + 1], scan.apart[#scan.apart + 1] = id, id
    return 'aside'
  end
  local room = group and group_room(limits, group)
  -- A task that was parked or given back keeps the place that it had then.
  local unparked = room and room.unparked > 0 and call('ZSCORE', P .. 'unparked:' .. group, id)
  if unparked then place = tonumber(unparked) end
  local how, has_slot = decide(scan, id, envelope, place, group, room)
  if how == 'full' or how == 'stop' then return how end
  if unparked then
    call('ZREM', P .. 'unparked:' .. group, id)
    room.unparked = room.unparked - 1
  end
  if how == 'park' then
    park(scan, id, place, group, room, has_slot)
  elseif how == 'off' then
    postpone(scan, id, place, group, not has_slot and room)
  else
    take(scan, id, envelope, group, room, has_slot)
    if unparked and room.unparked == 0 and room.waiting == 0 and not room.least then forget_group(P, group) end
  end
  return how
end

-- Writes the leases of the tasks that the page took. They have left `ready`, and Redis may refuse what a later page
-- reads.
local function lease_page(scan)
  local fields = {}
  for i = scan.leased + 1, #scan.ids do
    if scan.envelopes[i] then
      scan.written = scan.written + 1
      fields[#fields + 1], fields[#fields + 2] = scan.ids[i], scan.line(scan.written)
    end
  end
  if #fields > 0 then enter_running(scan.running, fields) end
  scan.leased = #scan.ids
end

-- Writes the outcome of the page, and begins the next page. A group of which the page parked tasks, but which may start
-- some after all, has them unparked.
local function end_page(scan)
  local P, limits = scan.P, scan.bounds
  if #scan.leaving > 0 then leave_ready(P, scan.leaving) end
  lease_page(scan)
  for i = 1, #scan.apart do put_aside(P, scan.apart[i]) end
  for group, list in pairs(scan.parks) do
    local room = limits.rooms[group]
    enter_parked(P, group, list)
    if tells(P) then
      local ids = {}
      for i = 2, #list, 2 do ids[#ids + 1] = list[i] end
      tell(P, 'parked', ids)
    end
    room.waiting, room.least = room.waiting + #list / 2, nil
    if room.off then
      expect(P, group, room.off)
    elseif room.strict and room.free < 1 or room.free - room.used - room.unparked >= 1 then
      look(limits, group, 100)
    else
      expect(P, group, look_again(room, room.used + room.unparked))
    end
  end
  scan.leaving, scan.parks, scan.apart = {}, {}, {}
end

-- Goes through one page of `ready`. Returns how many members it had, and whether the scan is over.
local function scan_page(scan, size)
  local P, members = scan.P, {}
  unfold(P, 0, size)
  local found = call('ZRANGE', P .. 'ready', 0, size - 1, 'WITHSCORES')
  if #found == 0 then return 0 end
  for i = 1, #found, 2 do members[#members + 1] = found[i] end
  local envelopes = call('HMGET', P .. 'tasks', unpack(members))
  local is_over
  for i = 1, #members do
    local how = weigh(scan, members[i], tonumber(found[2 * i]), envelopes[i])
    is_over = how == 'full' or how == 'stop' or how == 'alone' or scan.bytes > @REPLY_BYTES_MAX@
    if is_over then break end
  end
  end_page(scan)
  return #members, is_over
end

-- Goes through the head of the queue: tasks whose groups are at their limits are parked, others are taken, up to
-- `want`. Returns their ids and envelopes; they have left `ready`, and their leases are written. Returns whether there
-- may be more behind them, too. line: as in a scan; large: envelopes may be large. It ends after LOOK_AT_MOST members
-- or the page that exceeds them.
local LOOK_AT_MOST = 100
local function limits_admit(limits, running, line, want, has_company, extras, flagged, large)
  local scan = {bounds = limits, P = limits.P, running = running, line = line, want = want, has_company = has_company, extras = extras,
    flagged = flagged, ids = {}, envelopes = {}, bytes = 0, leased = 0, written = 0, leaving = {}, parks = {}, apart = {}}
  local looked, is_over = 0, false
  while looked < LOOK_AT_MOST and not is_over do
    local count
    count, is_over = scan_page(scan, large and 8 or max(want - #scan.ids, 31) + 1)
    if count == 0 then return scan.ids, scan.envelopes, false end
    looked = looked + count
  end
  return scan.ids, scan.envelopes, true
end

-- The first task that is leased after a breaker opened is its trial: its outcome decides whether others start
-- (lib/breaker.lua). leased: the ids.
local function begin_tries(g, leased)
  if g.tries and leased[1] then
    breaker.try(g.P, 'q', leased[1], g.now)
    g.shut = true
  end
  for _, one in ipairs(g.admitted) do
    if g.rooms[one.in_group].tries then breaker.try(g.P, 'g:' .. one.in_group, one.id, g.now) end
  end
end

-- Counts leased tasks for the limits of the queue and of their groups.
local function limits_take(g, leased)
  local P, s, count = g.P, g.rules, #leased
  if s[CONCURRENCY] then
    add_to(P .. 'limit_state', 'running', count)
    g.shut = g.left <= count
  end
  if g.pace then
    call('HSET', P .. 'limit_state', 'tat', rate_clock(g.pace, count))
    if g.pace.room <= count then
      g.shut = true
      opens(g, rate_opens(g.pace, count))
    end
  end
  local slots, taken, started = {}, {}, {}
  for _, one in ipairs(g.admitted) do
    local group = one.in_group
    started[group] = (started[group] or 0) + 1
    if not one.has_slot then
      slots[#slots + 1], slots[#slots + 2] = one.id, group
      taken[group] = (taken[group] or 0) + 1
    end
  end
  local counted = #slots > 0 and find(g.flags, 's', 1, true)
  if counted then call('HSET', P .. 'running_group', unpack(slots)) end
  for group, n in pairs(started) do
    local room = g.rooms[group]
    if counted and taken[group] then add_to(P .. 'group_running', group, taken[group]) end
    if room.pace then call('ZADD', P .. 'rates', rate_clock(room.pace, n), group) end
  end
  if find(g.flags, 'b', 1, true) then begin_tries(g, leased) end
end
