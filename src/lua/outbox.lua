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
-- ARGV[1]  how many to return at most
-- ARGV[2...] messages that were carried
-- reply    the first messages; fewer when they are large
--
-- Sent twice: what was taken out is not there any more.

local call = redis.call
local outbox = KEYS[1] .. 'outbox'
for i = 2, #ARGV do call('LREM', outbox, 1, ARGV[i]) end
local messages, bytes = call('LRANGE', outbox, 0, ARGV[1] - 1), 0
for i = 1, #messages do
  bytes = bytes + #messages[i]
  if i > 1 and bytes > 4194304 then
    for j = #messages, i, -1 do messages[j] = nil end
    break
  end
end
return messages
