-- Unique keys: unique:<key> holds the id of the task that has it. o: the header of a task, with
--   unique  the key
--   until   "started": free when the task is leased; else when it has ended, whichever way
--   unique_for  ms: free after that time instead, or when the task is cancelled or deleted before
-- A lock that is held for a time has an expiry; any other goes with its task.
--
-- requires: base
-- gives: lock, lock_as, unlock

local function lock_as(P, id, o, ...)
  local key = P .. 'unique:' .. o.unique
  if o.unique_for then return call('SET', key, id, 'PX', text(min(o.unique_for, LATEST)), ...) end
  return call('SET', key, id, ...)
end

-- Takes the key. Returns nil, or the id of the task that holds it; id itself when it has held it since before.
local function lock(P, id, o)
  if lock_as(P, id, o, 'NX') then return nil end
  local holder = call('GET', P .. 'unique:' .. o.unique)
  if holder then return holder end
  -- It had another type, and GET has removed it (lib/foreign_key.lua).
  lock_as(P, id, o)
end

-- The task has ended; by_hand: it was cancelled or deleted.
local function unlock(P, id, o, by_hand)
  if o.unique and (by_hand or not o.unique_for) and call('GET', P .. 'unique:' .. o.unique) == id then
    call('DEL', P .. 'unique:' .. o.unique)
  end
end
