-- What cancel.lua and delete.lua do alike: they read which task is to go, and tell whether other tasks are still to
-- hear of it.
--
-- requires: base, read_task
-- gives: read_removal, removal_reply

-- Reads ARGV: the task's id, and "cascade" or ""; `other`: a further word that is allowed. Returns {id, envelope,
-- state, cascade, other}; or nil and the script's reply.
local function read_removal(P, other)
  local id, cascade = ARGV[1], ARGV[2] or ''
  if not id or cascade ~= '' and cascade ~= 'cascade' and cascade ~= other then
    return nil, redis.error_reply('ERR @NAME@: ARGV[1] is a task, ARGV[2] "cascade" or empty')
  end
  local task, reply = read_task(P, id)
  if task then task.id, task.cascade, task.other = id, cascade == 'cascade', other and cascade == other end
  return task, reply
end

-- said: what became of the task.
local function removal_reply(P, task, said)
  local has_more = said == 'ok' and (task.state == 'blocked' or task.cascade or task.other)
  return has_more and call('EXISTS', P .. 'fanout', P .. 'outbox') > 0 and 'ok more' or said
end
