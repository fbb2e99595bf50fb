#!lua flags=no-writes
-- tagged: a page of the tasks with a tag, the one that was enqueued last first, whatever their states.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the tag
-- ARGV[2]  only those in this state, or ""
-- ARGV[3]  how many of the tag's tasks to pass over
-- ARGV[4]  how many of the others to look at, at most 1000
-- reply    [1] how many were passed over or looked at: where to go on; -1 at the end
--          [2...] each as in show.lua; they end early, but not before the first, when they are large
--
-- Sent twice: it only reads.
-- include: lib/base.lua
-- include: lib/where.lua
-- include: lib/info.lua
-- include: lib/whole.lua

local P, tag, wanted, skip, most = KEYS[1], ARGV[1], ARGV[2], whole(ARGV[3], 0, LATEST), whole(ARGV[4], 0, LATEST)
if not P or not skip or not most then
  return redis.error_reply('ERR @NAME@: it takes a tag, a state or nothing, how many to skip and to look at')
end
most = math.min(most, 1000)
local REPLY_BYTES = 16777216
local key = P .. 'tag:' .. tag
local ids = most > 0 and call('ZREVRANGE', key, text(skip), text(skip + most - 1)) or {}
local reply, looked, bytes = {-1}, 0, 0

for i = 1, #ids do
  if bytes > REPLY_BYTES then break end
  looked = i
  local id = ids[i]
  local state, score, session, lease = where(P, id)
  local envelope = (wanted == '' or state == wanted) and call('HGET', P .. 'tasks', id)
  if envelope then
    local task, more = describe(P, id, envelope, state or 'unknown', score, session, lease)
    reply[#reply + 1] = task
    bytes = bytes + #envelope + more
  end
end
if skip + looked < call('ZCARD', key) then reply[1] = skip + looked end
return reply
