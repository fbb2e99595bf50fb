#!lua flags=no-writes
-- cancelled: was a task cancelled while it runs? For a worker that may have missed what the control channel said.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    0; or 1, or, if there is one, the reason
--
-- Sent twice: it only reads.
-- require: base, cancel_mark

if not KEYS[1] or not ARGV[1] then return redis.error_reply('ERR @NAME@: ARGV[1] is a task') end
local envelope = call('HGET', KEYS[1] .. 'tasks', ARGV[1])
if not envelope or not is_cancelled(envelope) then return 0 end
local reason = header(envelope).reason
return type(reason) == 'string' and reason ~= '' and reason or 1
