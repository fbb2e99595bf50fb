#!lua flags=allow-oom
-- outbox: messages of a queue to others. Whoever has the time carries them, and only then are they taken out: what is
-- lost on the way is carried again, and counts once (lib/received.lua). Each has a serial number of its own; they stand
-- in the order of these.
--
--   R <n> <child> <parent> <policy>   a task here waits for one elsewhere: link.lua there; how that has ended, if it
--                                     has, is delivered here
--   U <n> <child> <parent>            it does not any more: link.lua there
--   E <n> <child> <parent> <state> <edge>   a task elsewhere is to hear how one of ours ended: deliver.lua there; edge is
--                                     the number of the message R that registered it
--   T <n> <handle> <length> <options><rest>   a task handed on: enqueue.lua there; length is that of the options
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many to return at most (of more than 1000 1000); then, behind blanks, how many to pass over, which stay as
--          their queues do not take them now; and how many of the arguments below, the last ones, were not understood
-- ARGV[2...] messages that were carried, or not understood: these are set aside in the list `unread`, the last 1000 of them
-- reply    the first messages; fewer when they are large
--
-- Sent twice: what was taken out is not there any more.

local call = redis.call
local outbox = KEYS[1] .. 'outbox'
local count, skip, misread = string.match(ARGV[1], '^(%d+) ?(%d*) ?(%d*)$')
if not count then return redis.error_reply('ERR outbox: ARGV[1] is up to three numbers') end
count, skip, misread = math.min(tonumber(count), 1000), tonumber(skip) or 0, tonumber(misread) or 0
for i = 2, #ARGV do
  if call('LREM', outbox, 1, ARGV[i]) == 1 and i > #ARGV - misread then
    call('RPUSH', KEYS[1] .. 'unread', ARGV[i])
    call('LTRIM', KEYS[1] .. 'unread', '-1000', '-1')
  end
end
local messages, bytes = call('LRANGE', outbox, skip, skip + count - 1), 0
for i = 1, #messages do
  bytes = bytes + #messages[i]
  if i > 1 and bytes > 4194304 then
    for j = #messages, i, -1 do messages[j] = nil end
    break
  end
end
return messages
