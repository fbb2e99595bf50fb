-- A step of maintain.lua: removes groups from `groups` whose last score is before the head of the queue. A new task of
-- such a group gets about the same place without the entry (lib/sequence.lua). If no task is ready or parked, scores
-- begin again. Below, "behind" in names means: with a score before the head.
--
-- requires: base, budget, event, first_time, sequence
-- gives: trim_order

-- Removes groups of the bands after that of the head, that is, of later priorities: in each band those before its own
-- head, or all if no task of the band is ready. Returns whether there may be more.
local function forget_later_groups(P, band, max)
  local next_base = text((band + 1) * BAND)
  local last = call('ZRANGEBYSCORE', P .. 'groups', next_base, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  if not last then return false end
  band = math.floor(tonumber(last) / BAND)
  local behind = text(head_score(P, band * BAND) or (band + 1) * BAND)
  local idle = call('ZRANGEBYSCORE', P .. 'groups', text(band * BAND), '(' .. behind, 'LIMIT', 0, max)
  if #idle > 0 then call('ZREM', P .. 'groups', unpack(idle)) end
  local more = #idle == max
  return budget.left > 0 and forget_later_groups(P, band, max) or more
end

-- Removes groups before the head, if no task of the queue is parked. Returns whether there may be more.
local function forget_idle_groups(P, behind, max)
  local idle = min(call('ZCOUNT', P .. 'groups', '-inf', behind), max)
  if idle > 0 then call('ZREMRANGEBYRANK', P .. 'groups', 0, idle - 1) end
  return idle == max
end

-- Removes some groups before the head, chosen at random, if tasks of the queue are parked. A group with parked tasks is
-- moved to the head instead, so that a new task of the group gets a place behind the parked ones.
local function forget_groups_but_parked(P, head, behind, max)
  local room = budget.room(3, 16, max)
  local first = math.random(0, math.max(0, call('ZCOUNT', P .. 'groups', '-inf', behind) - room))
  local idle = call('ZRANGEBYSCORE', P .. 'groups', '-inf', behind, 'WITHSCORES', 'LIMIT', first, room)
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

local function forget_groups(P, head, max)
  local behind, more = '(' .. text(head), false
  if call('EXISTS', P .. 'parked') == 1 then
    forget_groups_but_parked(P, head, behind, max)
  else
    local is_left = forget_idle_groups(P, behind, max)
    more = forget_later_groups(P, math.floor(head / BAND), max) or is_left
  end
  if call('EXISTS', P .. 'groups') == 0 then call('HDEL', P .. 'sequence', 'groups') end
  return more
end

-- is_large: settings.large is set; payload_max: the setting of this name. Returns {more}.
local function trim_order(P, is_large, payload_max, max)
  local head = first_time(P, 'ready')
  if head then return {more = call('EXISTS', P .. 'groups') == 1 and forget_groups(P, head, max)} end
  if call('EXISTS', P .. 'parked') == 0 then
    call('UNLINK', P .. 'sequence', P .. 'groups')
    if tells(P) then call('HSET', P .. 'sequence', 'events', '1') end
    if payload_max then call('HSET', P .. 'sequence', 'payload_max', payload_max) end
    if is_large and call('EXISTS', P .. 'tasks') == 0 then call('HDEL', P .. 'settings', 'large') end
  end
  return {}
end
