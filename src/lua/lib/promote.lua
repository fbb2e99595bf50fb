-- A step of maintain.lua: scheduled tasks that are due become ready.
--
-- requires: base, budget, event, requeue_front, sequence, transitions
-- gives: promote_due
-- fields: front, front_envelopes, promoted

-- A task that was postponed for a second has its former place in info:<id> (lib/flagged.lua). Deletes that field, and
-- returns the place; nil if the task was not postponed; false if scores have begun again since: then all ready tasks
-- are newer, and the task goes to the front. Also deletes an outdated mark `revoked` (lib/revoke.lua).
local function place_of(P, id, now)
  local info = P .. 'info:' .. id
  local known, revoked_at = unpack(call('HMGET', info, 'place', 'revoked_at'))
  if revoked_at and math.abs(now - count_of(revoked_at)) > @REVOKED_MS@ then call('HDEL', info, 'revoked', 'revoked_at') end
  if not known then return end
  call('HDEL', info, 'place')
  local place, epoch = string.match(known, '^(%-?%d+) (.+)$')
  return place and call('HGET', P .. 'sequence', 'epoch') == epoch and text(tonumber(place))
end

-- Sorts due tasks. Returns {count, promoted, ready, front, front_envelopes, malformed}. count: how many ids were
-- handled before the budget was used up; promoted: ids of all tasks that become ready; ready: place and id of each that
-- gets a place; front: ids of those that go to the front; malformed: {id, error text} of those that die.
local function sort_due(P, ids, envelopes, order, now)
  local due = {count = #ids, promoted = {}, ready = {}, front = {}, front_envelopes = {}, malformed = {}}
  local ready, malformed = due.ready, due.malformed
  for i = 1, #ids do
    if i > 1 and budget.is_over(i - 1) or #malformed >= 10 and 20 * #malformed > budget.left then
      due.count = i - 1
      break
    end
    local id, envelope = ids[i], envelopes[i]
    local o = envelope and header(envelope, id)
    if o and o.malformed then
      malformed[#malformed + 1] = {id, o.malformed}
    elseif o then
      local place
      if has_info(envelope) then place = place_of(P, id, now) end
      if place == false then
        due.front[#due.front + 1], due.front_envelopes[#due.front_envelopes + 1] = id, envelope
      else
        ready[#ready + 1] = place or text(next_score(order, o.priority, o.group, o.weight))
        ready[#ready + 1] = id
      end
      due.promoted[#due.promoted + 1] = id
    end
  end
  return due
end

-- Promotes at most `max` tasks. large: envelopes may be large. A member of `scheduled` without an envelope is removed;
-- a malformed task dies. Returns {count, more}.
local function promote_due(P, now, max, endings, large)
  local room = budget.room(6, 1, max)
  local ids = call('ZRANGEBYSCORE', P .. 'scheduled', '-inf', '(' .. text(now + 1), 'LIMIT', 0, room)
  if #ids == 0 then return {count = 0} end
  local found = #ids
  if large then ids = {unpack(ids, 1, budget.fit(P, ids))} end
  local order = order_open(P)
  local due = sort_due(P, ids, call('HMGET', P .. 'tasks', unpack(ids)), order, now)
  budget.left = budget.left - due.count
  leave_scheduled_first(P, due.count)
  if #due.ready > 0 then
    order_save(order)
    enter_ready(P, due.ready)
  end
  requeue_front(P, due.front, due.front_envelopes)
  tell(P, 'ready', due.promoted)
  for _, task in ipairs(due.malformed) do endings().dies(P, task[1], now, 'malformed', task[2]) end
  return {count = #due.promoted, more = found == room or due.count < found}
end
