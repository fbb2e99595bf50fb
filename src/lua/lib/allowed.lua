-- The rights that a user must have. Redis refuses a command only when it is called, perhaps after others have written;
-- so scripts ask before. Commands for notices and events are not asked for: see `publish` in lib/base.lua and `tell` in
-- lib/event.lua.
--
-- gives: missing_rights, not_allowed, rights_fault

-- names: commands, in one text. Returns those that the user may not call on the keys of a queue.
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

-- The same, for turn.lua and enqueue.lua, which are called often. A user who may change access lists counts as one who
-- may call all commands: this is one question instead of some thirty. If such a user lacks a command all the same,
-- Redis refuses it in the middle of the script; so the script undoes what it did, or another script mends it.
local function not_allowed(P, names)
  return not redis.acl_check_cmd('ACL', 'SETUSER', 'any') and rights_fault(P, names) or nil
end
