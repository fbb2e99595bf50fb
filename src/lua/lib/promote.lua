-- A step of maintain.lua: scheduled tasks whose time has come become ready.
--
-- requires: base, budget, event, requeue_front, sequence, transitions
-- gives: promote_due
-- fields: front, front_envelopes, promoted

-- Takes the place that a task had when it was put off for a second (lib/flagged.lua), and deletes it; an old mark
-- `revoked` of the task goes, too. Returns the place; false: the scores began again since then, so that all waiting
-- tasks came later; nil: it has none.
local function place_of(P, id, now)
  local info = P .. 'info:' .. id
  local known, revoked_at = unpack(call('HMGET', info, 'place', 'revoked_at'))
  if revoked_at and math.abs(now - count_of(revoked_at)) > @REVOKED_MS@ then call('HDEL', info, 'revoked', 'revoked_at') end
  if not known then return end
  call('HDEL', info, 'place')
  local place, epoch = string.match(known, '^(%-?%d+) (.+)$')
  return place and call('HGET', P .. 'sequence', 'epoch') == epoch and text(tonumber(place))
end

-- Sorts due tasks by where they go: {count, promoted, ready, front, front_envelopes, malformed}. count: how many of ids
-- were looked at before the budget was used up.
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

-- At most `max`. large: envelopes may be large. A member without an envelope just leaves `scheduled`; a malformed task
-- dies. Returns {count, more}.
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
