-- The unique key of a task that runs at most once: the task is completed before it runs, and has its key until its
-- handler has returned, or its session ends.
--
--   once:<session>  hash  id of the task -> its key
--
-- requires: base
-- gives: free_key, free_keys, keep_key

-- The task, whose completion is accepted, keeps its key. (Not one that is held for a time, or was free at the start.)
local function keep_key(P, running, id)
  local envelope = call('HGET', P .. 'tasks', id)
  local o = envelope and header(envelope) or {}
  if o.unique and not o.unique_for and call('GET', P .. 'unique:' .. o.unique) == id then
    call('HSET', P .. 'once:' .. match(running, ':running:(.*)$'), id, o.unique)
  end
end

local function free_key(P, session, id, key)
  call('HDEL', P .. 'once:' .. session, id)
  if call('GET', P .. 'unique:' .. key) == id then call('DEL', P .. 'unique:' .. key) end
end

-- The session has ended: about `most` of the keys of its tasks are free. Returns whether there are more.
local function free_keys(P, session, most)
  local held = P .. 'once:' .. session
  if call('EXISTS', held) == 0 then return false end
  local cursor, found = '0', {}
  repeat -- (a hash that was large may be empty at its beginning)
    local page = call('HSCAN', held, cursor, 'COUNT', most)
    cursor, found = page[1], page[2]
  until #found > 0 or cursor == '0'
  for i = 1, #found, 2 do free_key(P, session, found[i], found[i + 1]) end
  return call('EXISTS', held) == 1
end
