#!lua flags=no-writes
-- list_by_tag: a page of the tasks with a tag, the one that was enqueued last first, whatever their states.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the tag
-- ARGV[2]  only those in this state, or ""
-- ARGV[3]  how many of the tag's tasks to pass over
-- ARGV[4]  how many of the others to look at, at most 1000
-- reply    [1] how many were passed over or looked at: where to go on; -1 at the end
--          [2...] each as in show.lua; they end early, but not before the first, when they are large, or run in a queue
--          of many sessions
--
-- Sent twice: it only reads.
-- require: base, absent, task_state, states, info, whole

local P, tag, wanted, skip, most = KEYS[1], ARGV[1], ARGV[2], whole(ARGV[3], 0, LATEST), whole(ARGV[4], 0, LATEST)
if not P or not skip or not most then
  return redis.error_reply('ERR @NAME@: it takes a tag, a state or nothing, how many to skip and to look at')
end
most = math.min(most, @CALL_MAX@)
local REPLY_BYTES = 2097152
local key = P .. 'tag:' .. tag
local ids = most > 0 and call('ZREVRANGE', key, text(skip), text(skip + most - 1)) or {}
local reply, looked, bytes = {-1}, 0, 0
local states, known = states_of(P, ids, wanted)

for i = 1, known do
  if bytes > REPLY_BYTES then break end
  looked = i
  local id, its = ids[i], states[i] or {}
  local envelope = (wanted == '' or its[1] == wanted) and call('HGET', P .. 'tasks', id)
  if envelope then
    local task, more = describe(P, id, envelope, its[1] or 'unknown', its[2], its[3], its[4])
    reply[#reply + 1] = task
    bytes = bytes + #envelope + more
  end
end
if skip + looked < call('ZCARD', key) then reply[1] = skip + looked end
return reply
