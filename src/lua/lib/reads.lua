-- The other half of lib/readers.lua: which records a task may read, those of its completed parents. Edges between
-- tasks: lib/dependency_edges.lua.
--
--   reads:<id>      zset  handles of these -> 0, or, of tasks in other queues, the number of the message that
--                         registered the edge there
--   settings reads  how many such edges there are
--
-- requires: base, retention, messages, readers, transitions
-- gives: readers.at_once, readers.leave, readers.let_go, readers.read, readers.release, readers.release_all
-- gives: readers.undo
-- fields: at_once, leave, let_go, release, release_all

readers.at_once = @EDGES_AT_ONCE@

-- A record lost a reader. If it has none any more, it is removed if its retention has ended.
function readers.let_go(P, id)
  if call('EXISTS', P .. 'readers:' .. id) == 1 then return end
  call('SREM', P .. 'read', id)
  local was_retained = leave_retained(P, id)
  if was_retained == 1 then readers.forget(P, {id}) end
end

function readers.read(P, id, parent, number)
  local far = number and number ~= '' and parts(parent) ~= own_queue(P)
  local added = call('ZADD', P .. 'reads:' .. id, far and number or '0', parent)
  if added == 1 then readers.count(P, 1) end
end

-- Adds to settings.reads. If another program wrote something that is no number there, it becomes a very large number:
-- it then never reaches 0, and scripts read a key that may not exist.
function readers.count(P, count)
  local left = redis.pcall('HINCRBY', P .. 'settings', 'reads', text(count))
  if type(left) ~= 'number' then
    call('HSET', P .. 'settings', 'reads', '4503599627370496')
  elseif left <= 0 then
    call('HDEL', P .. 'settings', 'reads')
  end
end

-- The task is no reader of these records any more: handle, number, ...
function readers.leave(P, id, parents)
  local queue, sent = own_queue(P), false
  local reader = queue .. '/' .. id
  for i = 1, #parents, 2 do
    local theirs, parent_id = parts(parents[i])
    if theirs ~= queue then
      send(P, 'D', reader .. ' ' .. parents[i] .. ' ' .. text(tonumber(parents[i + 1])))
      sent = true
    elseif call('ZREM', P .. 'readers:' .. parent_id, reader) == 1 then
      readers.let_go(P, parent_id)
    end
  end
  if sent then announce_due(P, clock()) end
end

-- The edge to a completed parent was removed, so the task is no reader of it.
function readers.undo(P, id, parent)
  local key = P .. 'reads:' .. id
  local number = call('ZSCORE', key, parent)
  if not number then return end
  call('ZREM', key, parent)
  readers.count(P, -1)
  readers.leave(P, id, {parent, number})
end

-- The task has ended, and is no reader any more. Many records are handled in steps (lib/fan_out.lua).
function readers.release(P, id)
  local key = P .. 'reads:' .. id
  local count = call('ZCARD', key)
  if count == 0 then return end
  readers.count(P, -count)
  if count > readers.at_once then
    local n = serial(P)
    call('RENAME', key, P .. 'fanout:' .. n)
    call('RPUSH', P .. 'fanout', n .. ' unread ' .. id)
    return announce_due(P, clock())
  end
  local parents = call('ZRANGE', key, 0, -1, 'WITHSCORES')
  call('DEL', key)
  readers.leave(P, id, parents)
end

-- The same for tasks that complete. settings.reads is read once in a call.
function readers.release_all(P, ids)
  readers.known = readers.known or {}
  if readers.known[P] == nil then readers.known[P] = call('HEXISTS', P .. 'settings', 'reads') == 1 end
  for i = 1, readers.known[P] and #ids or 0 do readers.release(P, ids[i]) end
end
