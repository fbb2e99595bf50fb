-- Outcomes that have more to say than "done". Needs base, order, front, schedule, keep, unique, death.

local function failed(P, id, now, kind, message)
  call('HINCRBY', P .. 'info:' .. id, 'failures', 1)
  call('HSET', P .. 'info:' .. id, 'kind', kind, 'message', message, 'failed', text(now))
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope then mark_info(P, id, envelope) end
end

-- One function an outcome that has more to say than "done"; each gets the three arguments of its record. They return the
-- state that ends a task, or nil.
local outcomes = {}

function outcomes.done(P, id, now, settings, result, has_result, unique)
  local envelope = unique == '1' and call('HGET', P .. 'tasks', id)
  if envelope then unlock(P, id, header(envelope)) end
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
  die(P, id, now, settings, kind, message)
  return 'dead'
end

function outcomes.snooze(P, id, now, settings, delay)
  if tonumber(delay) > 0 then return schedule(P, id, now + delay) end
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope then to_front(P, {id}, {envelope}) end
end

