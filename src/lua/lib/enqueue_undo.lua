-- The careful path of enqueue.lua: if Redis refuses a command, because the user has no right to it or a key has a wrong
-- type, the tasks that the call made are removed.
--
-- requires: enqueue_any, transitions_plain
-- gives: enqueue_or_undo

-- made: id -> options. No command may raise an error here.
local function undo(P, made)
  local call = redis.pcall
  for id, o in pairs(made) do
    for _, state in ipairs({@WAITING_SETS@}) do try_leave_state(P, state, id) end
    call('ZREM', P .. 'deadlines', id)
    call('HDEL', P .. 'tasks', id)
    call('UNLINK', P .. 'info:' .. id, P .. 'parents:' .. id)
    local lock = o.unique and P .. 'unique:' .. o.unique
    if lock and call('GET', lock) == id then call('DEL', lock) end
    for _, tag in ipairs(o.tags or {}) do
      call('ZREM', P .. 'tag:' .. tag, id)
      if call('EXISTS', P .. 'tag:' .. tag) == 0 then call('ZREM', P .. 'tags', tag) end
    end
  end
end

local function enqueue_or_undo(P, given, now)
  local made = {}
  local good, reply = pcall(enqueue_any, P, given, now, made)
  if good then return reply end
  undo(P, made)
  -- pcall of Redis's Lua returns an error as a text.
  return redis.error_reply(string.find(reply, '^%u+ ') and reply or 'ERR @NAME@: ' .. reply)
end
