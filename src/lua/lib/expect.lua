-- What a script looks at before anything else, so that no command of it is refused behind others that have written.
-- (Part of a block of its own, do ... end, as a script has room for 200 locals.)
--
-- requires: allowed, types
-- gives: unfit

-- The error that the script is to return, or nil.
local function unfit(P, id)
  if not P or not string.find(P, '^[%w._:-]+:{[%w._-]+}:$') then
    return redis.error_reply('ERR @NAME@: KEYS[1] is not the prefix of a queue, <namespace>:{<queue>}:')
  end
  local words = not_allowed(P, '@COMMANDS@') or has_wrong_type(P, id) and wrong_type(P, id)
  return words and redis.error_reply(words)
end
