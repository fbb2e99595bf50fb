-- From now on nothing is handed over (lib/hand.lua): all that wait for that look, and then wait for a wake-up. A page of them
-- is told at once; the others are in `idle` no more, either, and are told by maintain.lua.
--
--   wake_later  list  entries of `idle` that are still to be told
--
-- requires: base, wake_all_later
-- gives: wake_all
-- fields: wake_all

-- rest: tells a page of those that were left. Returns whether there may be more.
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
