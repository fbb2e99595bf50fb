-- Outcomes that have more to say than "done". Needs base, order, front, keep, settle.

local function failed(P, id, now, kind, message)
  call('HINCRBY', P .. 'info:' .. id, 'failures', 1)
  call('HSET', P .. 'info:' .. id, 'kind', kind, 'message', message, 'failed', text(now))
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope then mark_info(P, id, envelope) end
end

local function schedule(P, id, due)
  due = math.min(due, LATEST)
  local head = call('ZRANGE', P .. 'scheduled', 0, 0, 'WITHSCORES')
  call('ZADD', P .. 'scheduled', text(due), id)
  if not head[2] or due < tonumber(head[2]) then announce_due(P, due) end
end

local function give_back(P, id)
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope then to_front(P, {id}, {envelope}) end
end

-- One function an outcome that has more to say than "done"; each gets the three arguments of its record.
local outcomes = {}

function outcomes.done(P, id, now, settings, result, has_result)
  if has_result == '1' then call('HSET', P .. 'info:' .. id, 'result', result) end
  if not complete(P, {id}, now, settings) then call('UNLINK', P .. 'info:' .. id) end
  return 'completed'
end

function outcomes.retry(P, id, now, settings, delay, kind, message)
  failed(P, id, now, kind, message)
  schedule(P, id, now + delay)
end

function outcomes.fail(P, id, now, settings, counts, kind, message)
  if counts == '1' then
    failed(P, id, now, kind, message)
  else
    call('HSET', P .. 'info:' .. id, 'kind', kind, 'message', message, 'failed', text(now))
  end
  local age, count = keep_limits(settings[3], settings[4], 90 * DAY)
  if age == 0 or count == 0 then
    forget(P, {id})
  else
    call('ZADD', P .. 'dead', text(now), id)
    trim_count(P, 'dead', count, 16)
  end
  return 'dead'
end

function outcomes.snooze(P, id, now, settings, delay)
  if tonumber(delay) > 0 then schedule(P, id, now + delay) else give_back(P, id) end
end

