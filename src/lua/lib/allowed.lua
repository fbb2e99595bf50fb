-- The rights of the user. Redis refuses a command only when it is called, perhaps after other commands have written; so
-- scripts check the rights before. The check asks for the key <prefix>tasks only. Commands for notices and events are
-- not checked, because they may fail: `publish` in lib/base.lua, `tell` in lib/event.lua.
--
-- gives: missing_rights, not_allowed, rights_fault

-- names: commands, in one text. Returns a list of those that the user may not call on the key <prefix>tasks.
local function missing_rights(P, names)
  local key, missing = P .. 'tasks', {}
  for name in string.gmatch(names, '%u+') do
    if not redis.acl_check_cmd(name, key, key) then missing[#missing + 1] = name end
  end
  return missing
end

-- Returns a NOPERM error that names the commands that the user may not call, or nil.
local function rights_fault(P, names)
  local missing = missing_rights(P, names)
  if #missing == 0 then return end
  return 'NOPERM reeve needs rights to ' .. table.concat(missing, ', ') .. ' on the keys ' .. P .. '*'
end

-- The same for scripts that are called often, turn.lua and enqueue.lua. A user who may change access lists counts as a
-- user with all rights: that is one question instead of about thirty. If such a user lacks the right to a command,
-- Redis refuses it in the middle of the script. The script then undoes its writes, or another script repairs them.
local function not_allowed(P, names)
  return not redis.acl_check_cmd('ACL', 'SETUSER', 'any') and rights_fault(P, names) or nil
end
