-- Wakes threads that left `idle` when no task was to be handed over any more (lib/wake_all.lua).
--
-- requires: base
-- gives: wake_rest
-- fields: wake_rest

-- A page of those in `wake_later`. Returns whether there may be more.
local function wake_rest(P)
  local entries, stands = call('LPOP', P .. 'wake_later', '@WAKE_PAGE@') or {}, {}
  for i = 1, #entries do
    local session = match(entries[i], '^[^:]*')
    if stands[session] == nil then stands[session] = call('EXISTS', P .. 'running:' .. session) == 1 end
    if stands[session] then
      call('SADD', P .. 'woken:' .. session, entries[i])
      call('LPUSH', P .. 'hand:' .. entries[i], '')
    end
  end
  return #entries == @WAKE_PAGE@
end
