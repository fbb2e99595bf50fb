-- A step of maintain.lua: wakes threads that other scripts moved from `idle` to `wake_later`, because they were too
-- many to wake in one call (lib/wake_all.lua, lib/wake_one.lua).
--
-- requires: base
-- gives: wake_rest
-- fields: wake_rest

-- Wakes a page of the threads in `wake_later`, if their sessions exist. Returns whether there may be more.
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
