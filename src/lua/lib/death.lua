-- A task becomes dead.
--
--   dead            zset  id -> when
--   failures        zset  kind -> when a task last died of it, while there is one
--   failures:<kind> zset  id -> when
--
-- requires: base, cancel_mark, cancelled, deadline, event, history, retention, dependency_edges, insert_plain, readers
-- requires: reads, slot, stats, totals
-- requires: unique, transitions
-- gives: die, dies

-- Enqueues the death callback of a task. Its type is the field on_dead of the header of the dead task, or the setting
-- on_dead of the queue. The death of a death callback has no callback. counts: how many callbacks of one name this call
-- has enqueued, because tasks whose ids begin alike may die in the same ms.
local counts = {}
local function report_death(P, id, o, now, kind, message)
  local type = o.on_dead or call('HGET', P .. 'settings', 'on_dead')
  if not type or o.of or #type > @TYPE_MAX@ or not find(type, '^[%w._:/-]+$') then return end
  -- The header of a malformed task is not read, so `of` is unknown; but its id may show that it is a death callback.
  if o.malformed and find(id, ':dead:', 1, true) then return end
  local queue = match(P, '^.*:{(.*)}:$')
  local known = call('HMGET', P .. 'info:' .. id, 'failures', 'crashes')
  local payload = cjson.encode({queue = queue, id = id, type = o.type or '', kind = kind, message = message, at = now,
    failures = count_of(known[1]), crashes = count_of(known[2])})
  -- A malformed task may have any id. Name and type contain no character that has to be escaped in JSON; cjson would
  -- escape the slash.
  local name = string.gsub(sub(id, 1, @ID_LENGTH_MAX@), '[^%w._:-]', '_')
  local rest = '"type":"' .. type .. '","of":"' .. name .. '"}\n' .. payload
  name = sub(name, 1, 70) .. ':dead:' .. text(now)
  local key = P .. name
  local n = counts[key] or 0
  repeat n = n + 1 until insert_plain(P, n == 1 and name or name .. ':' .. text(n), rest, now)
  counts[key] = n
end

-- Makes a task dead. The caller has written kind and message to info:<id>. envelope: nil if it was not read. Returns
-- the state of the task, which is "cancelled" if the task had been cancelled while it ran.
local function die(P, id, now, kind, message, envelope)
  envelope = envelope or call('HGET', P .. 'tasks', id)
  if not envelope then return 'dead' end
  if is_cancelled(envelope) then return end_cancelled(P, id, envelope, now) end
  count_total(P, 'dead')
  local o = header(envelope)
  unlock(P, id, o)
  if o.group or o.malformed then leave_slot(P, id) end
  forget_deadline(P, id, envelope)
  report_death(P, id, o, now, kind, message)
  local limits = call('HMGET', P .. 'settings', 'dead_age', 'dead_count', 'reads')
  if limits[3] then readers.release(P, id) end
  local age, count = keep_limits(limits[1], limits[2], 90 * DAY)
  if age == 0 or count == 0 then
    forget(P, {id})
  else
    enter_dead(P, id, text(now))
    call('ZADD', P .. 'failures', text(now), kind)
    call('ZADD', P .. 'failures:' .. kind, text(now), id)
    trim_count(P, 'dead', count, 16, now)
  end
  return 'dead'
end

-- A task dies because of an error that a script found. The caller has removed it from its state. A task that was
-- cancelled becomes cancelled instead. Notifies children and clients that wait for the task.
local function dies(P, id, now, kind, message)
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope and is_cancelled(envelope) then
    return notify(P, {id}, end_cancelled(P, id, envelope, now))
  end
  call('HSET', P .. 'info:' .. id, 'kind', kind, 'message', message, 'failed', text(now))
  note_ended(P, id, now, 'dead', 'kind', kind, 'message', message)
  tell(P, 'dead', id, 'kind', kind, 'message', message)
  die(P, id, now, kind, message, envelope)
  add_stats(P, now, 'dead', 1, 'dead:' .. kind, 1)
  notify(P, {id}, 'dead')
end
