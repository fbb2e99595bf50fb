-- Empties `idle`, when no task is to be handed over any more (lib/hand.lua), because the queue was paused or limited: all its
-- threads are woken, poll the queue, and then block on `wake`. A page of them is woken at once; maintain.lua wakes the others.
--
--   wake_later  list  threads that left `idle` and that maintain.lua is to wake
--
-- requires: base, wake_all_later
-- gives: wake_all
-- fields: wake_all

-- rest: wakes a page of the threads in `wake_later` instead. Returns whether there may be more.
local function wake_all(P, rest)
  local from, page = P .. (rest and 'wake_later' or 'idle'), @WAKE_PAGE@
  local entries, stand = call('LPOP', from, page), {}
  if not entries then return false end
  for _, entry in ipairs(entries) do
    local session = string.match(entry, '^[^:]*')
    if rest and stand[session] == nil then stand[session] = call('EXISTS', P .. 'running:' .. session) == 1 end
    if not rest or stand[session] then
      call('SADD', P .. 'woken:' .. session, entry)
      call('LPUSH', P .. 'hand:' .. entry, '')
    end
  end
  if #entries < page then return false end
  if not rest and call('EXISTS', from) == 1 then
    wake_all_later(P)
  end
  return true
end
