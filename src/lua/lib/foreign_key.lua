-- A key of one task, group, tag, session or day at which another program has put a value of another type. A command on
-- it fails, which may be behind others that have written. Such a value is malformed data, like an envelope that is not
-- understood: it is removed, and the command is repeated as on a key that is absent. What is lost with it concerns that
-- one thing. A task whose info:<id> or parents:<id> it was is malformed from then on (`spoilt` in its envelope): one
-- that waits goes to the dead letters by the next maintain.lua. Keys with fixed names are not among these: a script is
-- refused before its first write (lib/types.lua).
--
-- requires: base
-- gives: is_spoilt
-- replaces: call

-- Behind the marks of lib/base.lua and lib/cancel_mark.lua.
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
    -- So the step of deadlines looks at it (lib/expire.lua).
    run('ZADD', P .. 'deadlines', '0', id)
    announce_due(P, 0)
  end

  local function reclaim(key)
    local P, thing, id = match(key, '^([^}]*}:)([%a_]+):(.*)$')
    if not P or thing == 'cron' then return end
    run('UNLINK', key)
    if thing == 'info' or thing == 'parents' then spoil(P, id) end
  end

  -- The first of a command's keys is the one of which the type matters.
  call = function(...)
    local reply = redis.pcall(...)
    if type(reply) ~= 'table' or not reply.err then return reply end
    if find(reply.err, '^WRONGTYPE') then reclaim((select(2, ...))) end
    return run(...)
  end
end
