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
-- gives: limits_admit, limits_charge, limits_open, limits_pay, limits_room, limits_take
-- fields: admitted, apart, by_group, bytes, envelopes, extras, flagged, flags, has_company, has_slot, ids, in_group
-- fields: leased, leaving, least, left, bounds, parks, place, shut, line, tries, want, written

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
    room, g.pace = rate_room(g.P, s[RATE], known[2], g.now)
    if room < 1 then
      opens(g, rate_opens(g.pace, 0))
      return 0
    end
    free = min(free, room)
  end
  return free
end

-- A task takes the units of its cost from a rate. One of them is counted with its start. one: the limits of the queue,
-- or a room.
local function limits_charge(g, one, envelope)
  local pace = one.pace
  local more = pace and envelope and find(envelope, '"cost":', 1, true) and (header(envelope).cost or 1) - 1 or 0
  if more == 0 then return end
  pace.base, pace.room = pace.base + more * pace.step, pace.room - more
  if one.rest then
    one.rest = one.rest - more
    one.free = min(one.free, one.rest)
  end
  g.debt = max(g.debt or 0, more)
end

-- The same for the first `taken` tasks of a queue, and its rate. Returns how many of them it lets start.
local function limits_pay(g, envelopes, taken)
  for i = 1, g.pace and taken or 0 do
    if i > g.pace.room then return i - 1 end
    limits_charge(g, g, envelopes[i])
  end
  return taken
end

-- Whether no task of the group is before this one. least: the first place of those that are to be parked in this page.
local function is_first(g, part)
  local group, room, place = part.in_group, part.room, part.place
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
--   left                    group -> true, if a task that was unparked there is parked under its other group
-- A part is what the scan knows of a task in one of its groups, a part of limits.admitted, too: id, in_group, room,
-- place (of the task in the group), unparked (true, if it was unparked there), has_slot (it has its slot there).

-- The task waits in `parked` until this group of it may start it.
local function park(scan, id, part)
  local group, room, place = part.in_group, part.room, part.place
  if part.has_slot then call('ZADD', scan.P .. 'parked_first:' .. group, text(place), id) end
  local list = scan.parks[group] or {}
  list[#list + 1], list[#list + 2] = text(place), id
  scan.parks[group], scan.leaving[#scan.leaving + 1] = list, id
  room.least = min(room.least or place, place)
end

-- Postpones a suspect (a task that crashed twice), as this session may not run it beside another suspect; and a task
-- whose lease this session lost by hand. part: of a group in which it has no slot; nil: there is none.
local function postpone(scan, id, place, part)
  local limits, flagged = scan.bounds, scan.flagged
  if part then
    part.room.off = limits.now + flagged.put_off
    park(scan, id, part)
  else
    flagged.off(scan.P, id, place, limits.now)
    scan.leaving[#scan.leaving + 1] = id
  end
end

-- Takes the task, to lease it.
local function take(scan, id, envelope, parts)
  local ids, envelopes = scan.ids, scan.envelopes
  ids[#ids + 1], envelopes[#envelopes + 1], scan.leaving[#scan.leaving + 1] = id, envelope, id
  scan.bytes = scan.bytes + (envelope and #envelope or 0)
  local limits = scan.bounds
  limits_charge(limits, limits, envelope)
  if limits.pace then scan.want = max(#ids, min(scan.want, limits.pace.room)) end
  for _, part in ipairs(parts) do
    local room = part.room
    room.used = room.used + 1
    limits_charge(limits, room, envelope)
    limits.admitted[#limits.admitted + 1] = part
    if part.unparked and room.unparked == 0 and room.waiting == 0 and not room.least then forget_group(scan.P, part.in_group) end
  end
end

-- Decides whether the limits let the task start. "full": they do, but there are as many as are wanted; "park": they do
-- not; "stop", "off", "alone" and "take" as from flagged.weigh. Returns the part to park it under, too: with "park" of
-- a group that does not let it start, else of one in which it has no slot, or nil. It may have a slot where a strict
-- group waits for it, or did until its limits changed.
local function decide(scan, id, envelope, parts)
  local limits, P, record, full, behind = scan.bounds, scan.P, nil, nil, nil
  for _, part in ipairs(parts) do
    local room = part.room
    if limits.counting or room.strict and room.free < 1 then
      record = record or call('HGET', P .. 'running_group', id)
      part.has_slot = has_slot_in(record, part.in_group)
    end
    if (part.has_slot and room.rest or room.free) - room.used < 1 then full = full or part end
    if not part.has_slot then behind = behind or part end
  end
  if full then return 'park', full end
  if #scan.ids == scan.want then return 'full' end
  -- The tasks of a group have an order, those of a virtual group have not.
  local first = parts[1]
  if first and not first.has_slot and not is_virtual(first.in_group) and not is_first(limits, first) then return 'park', first end
  if envelope and has_info(envelope) then
    local is_alone = #scan.ids == 0 and not scan.has_company
    return scan.flagged.weigh(P, scan.running, id, envelope, is_alone, scan.extras), behind
  end
  return 'take'
end

-- Looks at one member of `ready`, does with it what `decide` returned, and returns that. "aside": the task is
-- malformed.
local function weigh(scan, id, place, envelope)
  local limits, P, groups, malformed = scan.bounds, scan.P, {}, nil
  if envelope then groups, malformed = groups_of(P, envelope) end
  if envelope and (malformed or is_no_id(id)) then
    scan.leaving[#scan.leaving + 1], scan.apart[#scan.apart + 1] = id, id
    return 'aside'
  end
  local parts = {}
  for i, group in ipairs(groups) do
    local room = group_room(limits, group)
    -- A task that was parked or given back keeps the place that it had then.
    local unparked = room.unparked > 0 and call('ZSCORE', P .. 'unparked:' .. group, id)
    parts[i] = {id = id, in_group = group, room = room, unparked = unparked, place = tonumber(unparked or place)}
  end
  local how, apart = decide(scan, id, envelope, parts)
  if how == 'full' or how == 'stop' then return how end
  for _, part in ipairs(parts) do
    if part.unparked then
      call('ZREM', P .. 'unparked:' .. part.in_group, id)
      part.room.unparked = part.room.unparked - 1
      -- A group under which it is not parked may let another task start.
      if (how == 'park' or how == 'off') and part ~= apart then scan.left[part.in_group] = true end
    end
  end
  if how == 'park' then
    park(scan, id, apart)
  elseif how == 'off' then
    postpone(scan, id, parts[1] and parts[1].place or place, apart)
  else
    take(scan, id, envelope, parts)
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
  for group in pairs(scan.left) do look(limits, group, 100) end
  scan.leaving, scan.parks, scan.apart, scan.left = {}, {}, {}, {}
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
    is_over = how == 'full' or how == 'stop' or how == 'alone' or scan.bytes > @REPLY_BYTES_MAX@ or scan.bounds.made >= ROOMS_MAX
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
    flagged = flagged, ids = {}, envelopes = {}, bytes = 0, leased = 0, written = 0, leaving = {}, parks = {}, apart = {}, left = {}}
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
  if g.debt and g.debt > count_of(call('HGET', P .. 'limit_state', 'debt')) then
    call('HSET', P .. 'limit_state', 'debt', text(g.debt))
  end
  local slots, taken, started, counted = {}, {}, {}, nil
  for _, one in ipairs(g.admitted) do
    local group, n = one.in_group, #slots
    started[group] = (started[group] or 0) + 1
    -- The parts of a task follow each other.
    if slots[n - 1] == one.id then
      slots[n] = slots[n] .. '\0' .. group
    else
      slots[n + 1], slots[n + 2] = one.id, group
    end
    if not one.has_slot then
      taken[group] = (taken[group] or 0) + 1
      counted = find(g.flags, 's', 1, true)
    end
  end
  if counted then call('HSET', P .. 'running_group', unpack(slots)) end
  for group, n in pairs(started) do
    local room = g.rooms[group]
    if counted and taken[group] then add_to(P .. 'group_running', group, taken[group]) end
    if room.pace then call('ZADD', P .. 'rates', rate_clock(room.pace, n), group) end
  end
  if find(g.flags, 'b', 1, true) then begin_tries(g, leased) end
end
