#!lua flags=no-writes
-- result: what a completed task left.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- reply    its result, or nil when it left none or is not completed
--
-- Sent twice: it only reads.
-- require: base, absent, result

if not KEYS[1] or not ARGV[1] then return redis.error_reply('ERR @NAME@: ARGV[1] is a task') end
local P, id = KEYS[1], ARGV[1]
local ended = call('ZSCORE', P .. 'completed', id) or call('ZSCORE', P .. 'retained', id)
return ended and result_of(P, id, ended) or false
