-- Unique keys: the value of unique:<key> is the id of the task that has the key, its holder. o: the options or the
-- header of a task, with
--   unique      the key
--   until       "started": the key is released when the task is leased; absent: when the task has ended
--   unique_for  ms: the key is released after this time instead, or when the task is cancelled or deleted before
-- A key with unique_for has an expiry in Redis; any other key is deleted with its task.
--
-- requires: base
-- gives: lock, lock_as, unlock

local function lock_as(P, id, o, ...)
  local key = P .. 'unique:' .. o.unique
  if o.unique_for then return call('SET', key, id, 'PX', text(min(o.unique_for, LATEST)), ...) end
  return call('SET', key, id, ...)
end

-- Takes the key for the task `id`. Returns nil, or the id of the holder, which can be `id` itself.
local function lock(P, id, o)
  if lock_as(P, id, o, 'NX') then return nil end
  local holder = call('GET', P .. 'unique:' .. o.unique)
  if holder then return holder end
  -- The key had a wrong type, and GET has removed it (lib/foreign_key.lua).
  lock_as(P, id, o)
end

-- The task has ended: releases its key. by_hand: it was cancelled or deleted.
local function unlock(P, id, o, by_hand)
  if o.unique and (by_hand or not o.unique_for) and call('GET', P .. 'unique:' .. o.unique) == id then
    call('DEL', P .. 'unique:' .. o.unique)
  end
end
