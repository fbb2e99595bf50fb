#!lua flags=no-writes
-- rights: what the user of this connection is not allowed to do and reeve needs.
--
-- KEYS[1]  the prefix of a queue
-- ARGV[1]  the namespace
-- reply    a list of texts, empty when nothing is missing: "<COMMAND>, ... on <keys>"
--
-- Sent twice: it only reads.
-- require: rights, allowed

local P, ns = KEYS[1], ARGV[1]
if not P or not ns then return redis.error_reply('ERR @NAME@: it takes a queue and a namespace') end
local found = {}
local function note(missing, task_state)
  if #missing > 0 then found[#found + 1] = table.concat(missing, ', ') .. ' on ' .. task_state end
end

-- Which of some commands, each with its arguments, the user may not call.
local function refused(commands)
  local missing = {}
  for _, command in ipairs(commands) do
    if not redis.acl_check_cmd(unpack(command)) then missing[#missing + 1] = command[1] end
  end
  return missing
end

note(missing_rights(P, COMMANDS), P .. '*')
-- What clients and workers send besides scripts.
local key, queues, workers, cron = P .. 'wake', ns .. ':queues', ns .. ':workers', ns .. ':cron'
note(refused({{'BLPOP', key, '0'}, {'WATCH', key}}), P .. '*')
note(refused({{'SADD', queues, 'x'}, {'SMEMBERS', queues}}), queues)
note(refused({{'SADD', workers, 'x'}, {'SMEMBERS', workers}, {'SREM', workers, 'x'}}), workers)
note(refused({{'SET', ns .. ':worker:x', ''}, {'GET', ns .. ':worker:x'}}), ns .. ':worker:*')
note(refused({{'HGET', cron, 'x'}, {'HSET', cron, 'x', ''}, {'HDEL', cron, 'x'}}), cron)
note(refused({{'PUBLISH', ns .. ':control', ''}, {'SUBSCRIBE', ns .. ':control'}}), 'the channel ' .. ns .. ':control')
note(refused({{'PUBLISH', P .. 'done:x', ''}, {'SUBSCRIBE', P .. 'done:x'}}), 'the channels ' .. P .. 'done:*')
return found
