-- Leasing under limits.
--
-- requires: base, event, group_place, limit_state, segment, put_aside, transitions
-- gives: gates, gates.admit, gates.open, gates.room, gates.take

local gates = {}

function gates.open(P, now, flags)
  local g = limit_state(P, now)
  g.flags, g.groups, g.admitted, g.shut = flags, find(flags, 'g', 1, true), {}, false
  return g
end

-- When the whole queue opens again: maintain.lua looks then.
local function opens(g, at)
  at = math.min(at, LATEST)
  local known = tonumber(call('HGET', g.P .. 'gate', 'opens'))
  if known and known > g.now and known <= at then return end
  call('HSET', g.P .. 'gate', 'opens', text(at))
  announce_due(g.P, at)
end

-- How many tasks may be leased now, at most `want`; 0 when the queue is shut.
function gates.room(g, want)
  local s = g.settings
  local free, known = want, call('HMGET', g.P .. 'gate', 'running', 'tat', 'counting')
  g.counting = known[3]
  if s[1] then
    local left = tonumber(s[1]) - (tonumber(known[1]) or 0)
    if left <= 0 then return 0 end
    -- What waits in one thread's batch counts as running: so few at once that others have something to do.
    free = math.min(free, math.max(1, math.floor(left / 16)))
    g.left = left
  end
  local hold = tonumber(s[3])
  if hold and hold > g.now then
    opens(g, hold)
    return 0
  end
  if s[2] then
    local room
    room, g.rate = rate_room(s[2], known[2], g.now)
    if room < 1 then
      opens(g, rate_opens(g.rate, 0))
      return 0
    end
    free = math.min(free, room)
  end
  return free
end

-- Does no task of the group stand before this place? (`least`: the first of those that are to be parked in this page.)
local function is_first(g, group, room, place)
  if room.least and room.least < place then return false end
  if room.parked == 0 and room.called == 0 then return true end
  for _, set in ipairs({'parked:', 'called:'}) do
    local first = call('ZRANGE', g.P .. set .. group, 0, 0, 'WITHSCORES')[2]
    if first and tonumber(first) < place then return false end
  end
  return true
end

-- What a page of the head of the queue comes to: `gone` leaves `ready`, `parks` is parked, by group; `aside` is not
-- understood.
local function flush(g, page)
  local P = g.P
  if #page.gone > 0 then leave_ready(P, page.gone) end
  for i = 1, #page.aside do put_aside(P, page.aside[i]) end
  for group, list in pairs(page.parks) do
    local room = g.rooms[group]
    enter_parked(P, group, list)
    if tells(P) then
      local ids = {}
      for i = 2, #list, 2 do ids[#ids + 1] = list[i] end
      tell(P, 'parked', ids)
    end
    room.parked, room.least = room.parked + #list / 2, nil
    if room.off then
      expect(P, group, room.off)
    elseif room.strict and room.free < 1 or room.free - room.used - room.called >= 1 then
      look(g, group, 100)
    else
      expect(P, group, look_again(room, room.used + room.called))
    end
  end
end

-- Goes through the head of the queue: tasks whose groups are at their limits are parked, the others are taken, up to
-- `want`. Returns ids and envelopes, which stand in `ready` no more, and whether there may be more behind them.
-- marked: from flagged.lua; large: envelopes may be.
local LOOK_AT_MOST = 100
local MANY_BYTES = @REPLY_BYTES_MAX@
function gates.admit(g, running, want, company, extras, flagged, large)
  local P, ids, envelopes, looked, bytes = g.P, {}, {}, 0, 0
  local page

  -- holds: the group waits for this task.
  local function park(id, place, group, room, holds)
    if holds then call('ZADD', P .. 'holders:' .. group, text(place), id) end
    local list = page.parks[group] or {}
    list[#list + 1], list[#list + 2] = text(place), id
    page.parks[group], page.gone[#page.gone + 1] = list, id
    room.least = math.min(room.least or place, place)
  end

  local function put_off(id, place, group, room)
    if room then
      room.off = g.now + flagged.put_off
      park(id, place, group, room)
    else
      flagged.off(P, id, place, g.now)
      page.gone[#page.gone + 1] = id
    end
  end

  -- 'full': there are as many as are wanted.
  local function weigh(id, place, envelope)
    local group, malformed
    if envelope then group, malformed = group_of(envelope) end
    if envelope and (malformed or is_no_id(id)) then
      page.gone[#page.gone + 1], page.aside[#page.aside + 1] = id, id
      return 'aside'
    end
    local room = group and group_room(g, group)
    local called = room and room.called > 0 and call('ZSCORE', P .. 'called:' .. group, id)
    if called then place = tonumber(called) end
    -- It has its slot from before: a strict group waits for it, or did until its limits changed.
    local back = room and (g.counting or room.strict and room.free < 1) and call('HGET', P .. 'slots', id) == group
    local free = not room or (back and room.rest or room.free) - room.used >= 1
    if free and #ids == want then return 'full' end
    local how = 'take'
    if not free or room and not back and not is_first(g, group, room, place) then
      how = 'park'
    elseif envelope and has_info(envelope) then
      how = flagged.weigh(P, running, id, envelope, #ids == 0 and not company, extras)
      if how == 'stop' then return how end
    end
    if called then
      call('ZREM', P .. 'called:' .. group, id)
      room.called = room.called - 1
    end
    if how == 'park' then
      park(id, place, group, room, back)
    elseif how == 'off' then
      put_off(id, place, group, not back and room)
    else
      ids[#ids + 1], envelopes[#envelopes + 1], page.gone[#page.gone + 1] = id, envelope, id
      bytes = bytes + (envelope and #envelope or 0)
      if room then
        room.used = room.used + 1
        g.admitted[#g.admitted + 1] = {id, group, back}
        if called and room.called == 0 and room.parked == 0 and not room.least then forget_group(P, group) end
      end
    end
    return how
  end

  while looked < LOOK_AT_MOST do
    local size = large and 8 or math.max(want - #ids, 31) + 1
    unfold(P, 0, size)
    local found = call('ZRANGE', P .. 'ready', 0, size - 1, 'WITHSCORES')
    if #found == 0 then return ids, envelopes, false end
    local members = {}
    for i = 1, #found, 2 do members[#members + 1] = found[i] end
    local told = call('HMGET', P .. 'tasks', unpack(members))
    page = {gone = {}, parks = {}, aside = {}}
    for i = 1, #members do
      local how = weigh(members[i], tonumber(found[2 * i]), told[i])
      if how == 'full' or how == 'stop' or how == 'alone' or bytes > MANY_BYTES then
        flush(g, page)
        return ids, envelopes, true
      end
    end
    flush(g, page)
    looked = looked + #members
  end
  return ids, envelopes, true
end

-- The tasks are leased: counts them.
function gates.take(g, count)
  local P, s = g.P, g.settings
  if s[1] then
    call('HINCRBY', P .. 'gate', 'running', count)
    g.shut = g.left <= count
  end
  if g.rate then
    call('HSET', P .. 'gate', 'tat', rate_clock(g.rate, count))
    if g.rate.room <= count then
      g.shut = true
      opens(g, rate_opens(g.rate, count))
    end
  end
  local slots, taken, started = {}, {}, {}
  for _, one in ipairs(g.admitted) do
    started[one[2]] = (started[one[2]] or 0) + 1
    if not one[3] then
      slots[#slots + 1], slots[#slots + 2] = one[1], one[2]
      taken[one[2]] = (taken[one[2]] or 0) + 1
    end
  end
  local counted = #slots > 0 and find(g.flags, 's', 1, true)
  if counted then call('HSET', P .. 'slots', unpack(slots)) end
  for group, n in pairs(started) do
    local room = g.rooms[group]
    if counted and taken[group] then call('HINCRBY', P .. 'taken', group, taken[group]) end
    if room.rate then call('ZADD', P .. 'rates', rate_clock(room.rate, n), group) end
  end
end
