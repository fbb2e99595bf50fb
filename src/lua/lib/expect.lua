-- Checks the prefix, the rights of the user and the types of keys at the begin of a script, so that Redis does not
-- refuse a command after others have written. A script requires this module in a block of its own, do ... end, because
-- Lua allows 200 local names in a function.
--
-- requires: allowed, types
-- gives: unfit

-- Returns the error that the script returns, or nil. id: the keys info:<id> and parents:<id> are checked, too. undoes:
-- the script undoes its writes if a command is refused; then a shorter check of rights is enough (not_allowed in
-- lib/allowed.lua).
local function unfit(P, id, undoes)
  if not P or not string.find(P, '^[%w._:-]+:{[%w._~-]+}:$') then
    return redis.error_reply('ERR @NAME@: KEYS[1] is not the prefix of a queue, <namespace>:{<queue>}:')
  end
  local words = (undoes and not_allowed or rights_fault)(P, '@COMMANDS@')
  if not words and has_wrong_type(P, id) then
    words = wrong_type(P) or id and (wrong_type_of(P, 'info:' .. id, 'hash') or wrong_type_of(P, 'parents:' .. id, 'hash'))
  end
  return words and redis.error_reply(words)
end
