-- Another program may have put a value of a wrong type at a key of one task, group, tag, session or day. A command on
-- that key fails, perhaps after other commands of the script have written. Such a value is malformed data, like a
-- malformed envelope: this module removes it and repeats the command, which then finds no key. Only the data of that
-- one task or group is lost. If the key was info:<id> or parents:<id>, the task is malformed from then on (`spoilt` in
-- its envelope); if it is waiting, the next maintain.lua makes it dead. Keys with fixed names are not removed: if one
-- has a wrong type, a script returns an error before its first write (lib/types.lua).
--
-- requires: base
-- gives: is_spoilt
-- replaces: call

-- Whether an envelope has the mark "spoilt". It stands behind the marks "info" (lib/base.lua) and "cancel"
-- (lib/cancel_mark.lua).
local function is_spoilt(envelope)
  return find(envelope, '^{"info":1,"spoilt":1,') or find(envelope, '^{"info":1,"cancel":1,"spoilt":1,')
end

do
  local run = call

  local function spoil(P, id)
    local envelope = run('HGET', P .. 'tasks', id)
    if not envelope or sub(envelope, 1, 2) ~= '{"' or is_spoilt(envelope) then return end
    local marks = match(envelope, '^{"info":1,"cancel":1,') or match(envelope, '^{"info":1,')
    run('HSET', P .. 'tasks', id, (marks or '{"info":1,') .. '"spoilt":1,' .. sub(envelope, marks and #marks + 1 or 2))
    -- A time in the past, so that the step of deadlines finds the task (lib/expire.lua).
    run('ZADD', P .. 'deadlines', '0', id)
    announce_due(P, 0)
  end

  local function reclaim(key)
    local P, thing, id = match(key, '^([^}]*}:)([%a_]+):(.*)$')
    if not P or thing == 'cron' then return end
    run('UNLINK', key)
    if thing == 'info' or thing == 'parents' then spoil(P, id) end
  end

  -- From here on `call` repairs keys. The first key of a command is the one whose type matters.
  call = function(...)
    local reply = redis.pcall(...)
    if type(reply) ~= 'table' or not reply.err then return reply end
    if find(reply.err, '^WRONGTYPE') then reclaim((select(2, ...))) end
    return run(...)
  end
end
