-- Empties `idle` after the queue was paused or got a limit: then tasks are not handed over any more (lib/hand.lua). All
-- idle threads are woken, poll the queue, and then block on `wake`. A page of them is woken at once; maintain.lua wakes
-- the others (lib/wake_rest.lua).
--
--   wake_later  list  threads that left `idle` and that maintain.lua is to wake
--
-- requires: base, wake_all_later
-- gives: wake_all

-- Returns whether there may be more threads to wake.
local function wake_all(P)
  local entries = call('LPOP', P .. 'idle', '@WAKE_PAGE@') or {}
  for i = 1, #entries do
    call('SADD', P .. 'woken:' .. match(entries[i], '^[^:]*'), entries[i])
    call('LPUSH', P .. 'hand:' .. entries[i], '')
  end
  if #entries < @WAKE_PAGE@ then return false end
  if call('EXISTS', P .. 'idle') == 1 then wake_all_later(P) end
  return true
end
