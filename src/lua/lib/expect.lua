-- What a script looks at before anything else, so that no command of it is refused behind others that have written.
-- A script requires it in a block of its own, do ... end, as it has room for 200 locals.
--
-- requires: allowed, types
-- gives: unfit

-- The error that the script is to return, or nil. id: the keys of that task are looked at, too. undoes: the script
-- undoes what it did where a command of it is refused, so that a user who may change access lists need not be asked for
-- each command (lib/allowed.lua).
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
