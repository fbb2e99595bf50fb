-- What a marked task's worker must know: {id, failures, crashes}, and letters: "c" when it has left a checkpoint, "a"
-- when it has crashed while it ran alone, and how often it was snoozed, where that is counted. `revoked` is for its
-- caller: see lib/revoke.lua.
--
-- requires: base
-- gives: attempt_info

local function attempt_info(P, id)
  local known = call('HMGET', P .. 'info:' .. id, 'failures', 'crashes', 'has', 'alone', 'revoked', 'snoozes')
  local letters = (known[3] or '') .. (known[4] and 'a' or '') .. (known[6] or '')
  return {id, count_of(known[1]), count_of(known[2]), letters ~= '' and letters or nil, revoked = known[5]}
end
