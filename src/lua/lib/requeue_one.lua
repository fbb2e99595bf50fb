-- Returns one task to the front of its priority. lib/requeue_front.lua does that for several tasks, and describes it.
--
-- requires: base, put_aside, sequence, transitions, wake_one
-- gives: last_of_lane, requeue_one

-- The last score that was given to a group in a band.
local function last_of_lane(P, priority, group)
  if group then return tonumber(call('ZSCORE', P .. 'groups', text(priority) .. ':' .. group)) or -1e300 end
  return tonumber(call('HGET', P .. 'sequence', text(priority))) or priority * BAND + @SCORE_START@
end

local function place_first(P, id, priority, group)
  local base = priority * BAND
  local head, last = head_score(P, base), last_of_lane(P, priority, group)
  -- In an empty band, virtual time continues from the last tag that was given there.
  local at = max(base, min((head or virtual_time(order_open(P), priority)) - 1, base + BAND - 1))
  -- Later tasks of the group, or without one, get places behind it.
  if at > last and group then
    call('ZADD', P .. 'groups', text(at), text(priority) .. ':' .. group)
    call('HSET', P .. 'sequence', 'groups', '1')
  elseif at > last then
    call('HSET', P .. 'sequence', text(priority), text(at))
  end
  enter_ready(P, {text(at), id})
end

local function requeue_one(P, id, envelope)
  local o = header(envelope, id)
  end_next(P)
  if o.malformed then put_aside(P, id) else place_first(P, id, o.priority or 0, o.group) end
  wake_one(P)
end
