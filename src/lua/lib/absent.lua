-- A script that only reads cannot remove a key of one task, kind, tag or group at which another program has put a value
-- of another type (lib/foreign_key.lua): to such a script that key is absent. So one value hides nothing but what it
-- replaced.
--
-- requires: base
-- replaces: call

do
  local run = call

  call = function(...)
    local reply = redis.pcall(...)
    if type(reply) ~= 'table' or not reply.err then return reply end
    local command = {...}
    if not find(reply.err, '^WRONGTYPE') or not find(command[2], '^[^}]*}:[%a_]+:') then return run(...) end
    -- No key ends with a zero byte.
    command[2] = command[2] .. '\0'
    return run(unpack(command))
  end
end
