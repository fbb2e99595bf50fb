-- Settling: what becomes of tasks that a session holds. Ownership is where the id stands: HDEL from the session's hash
-- must hit. Needs base, order, front, keep, notify, where.

-- Takes ids out of the session's hands; those that it did not hold go to `refused`, the others are returned.
local function take(P, running, ids, refused)
  local hit = call('HDEL', running, unpack(ids))
  if hit == #ids then return ids end
  local mine = {}
  for i = 1, #ids do
    -- What was ours stands nowhere now. (hit = 0: the session was reaped, and all of them with it.)
    if hit > 0 and not where(P, ids[i]) and call('HEXISTS', P .. 'tasks', ids[i]) == 1 then
      mine[#mine + 1] = ids[i]
    else
      refused[#refused + 1] = ids[i]
    end
  end
  return mine
end

-- ids have ended well; limits: the settings completed_age, completed_count.
local function complete(P, ids, now, limits)
  local age, count = keep_limits(limits[1], limits[2], DAY)
  if age == 0 or count == 0 then
    call('HDEL', P .. 'tasks', unpack(ids))
    return false
  end
  local members, n = {}, 0
  for i = 1, #ids do
    members[n + 1], members[n + 2], n = now, ids[i], n + 2
  end
  call('ZADD', P .. 'completed', unpack(members))
  trim_count(P, 'completed', count, 2 * #ids + 16)
  return true
end

local function failed(P, id, now, kind, message)
  call('HINCRBY', P .. 'info:' .. id, 'failures', 1)
  call('HSET', P .. 'info:' .. id, 'kind', kind, 'message', message, 'failed', text(now))
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope then mark_info(P, id, envelope) end
end

local function schedule(P, id, due)
  local head = call('ZRANGE', P .. 'scheduled', 0, 0, 'WITHSCORES')
  call('ZADD', P .. 'scheduled', due, id)
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
    call('ZADD', P .. 'dead', now, id)
    trim_count(P, 'dead', count, 16)
  end
  return 'dead'
end

function outcomes.snooze(P, id, now, settings, delay)
  if tonumber(delay) > 0 then schedule(P, id, now + delay) else give_back(P, id) end
end

local function settle_plain(P, running, ids, now, settings, refused)
  local mine = take(P, running, ids, refused)
  if #mine == 0 then return end
  complete(P, mine, now, settings)
  if settings[5] then notify(P, mine, 'completed') end
end

local function settle_record(P, running, at, now, settings, refused)
  local id = ARGV[at + 1]
  if call('HDEL', running, id) == 0 then
    refused[#refused + 1] = id
    return
  end
  local ended = outcomes[ARGV[at]](P, id, now, settings, ARGV[at + 2], ARGV[at + 3], ARGV[at + 4])
  if ended and settings[5] then notify(P, {id}, ended) end
end
