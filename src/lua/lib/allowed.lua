-- What a user must be allowed to do. Redis refuses a command when it is called, which may be behind others that have
-- written. (Notices and events are not among the commands: see publish in lib/base.lua, tell in
-- lib/event.lua.)
--
-- gives: missing_rights, not_allowed, rights_fault

-- Those of some commands, named in a text, that the user may not call on the keys of a queue.
local function missing_rights(P, names)
  local key, missing = P .. 'tasks', {}
  for name in string.gmatch(names, '%u+') do
    if not redis.acl_check_cmd(name, key, key) then missing[#missing + 1] = name end
  end
  return missing
end

-- The error of Redis's for a user that may not call some commands, or nil.
local function rights_fault(P, names)
  local missing = missing_rights(P, names)
  if #missing == 0 then return end
  return 'NOPERM reeve needs rights to ' .. table.concat(missing, ', ') .. ' on the keys ' .. P .. '*'
end

-- The same, for turns and enqueues, which are many. A user who may change access lists counts as one who may call all commands: that
-- is one question instead of some thirty. Where such a user lacks one of them all the same, Redis refuses it in the middle of the
-- script. So the caller of this undoes what it did, or other scripts find it.
local function not_allowed(P, names)
  return not redis.acl_check_cmd('ACL', 'SETUSER', 'any') and rights_fault(P, names) or nil
end
