#!lua flags=no-writes
-- stat: a queue in numbers.
--
-- KEYS[1]  the queue's prefix
-- reply    {paused, number of tasks in each state in the order of src/protocol/definition/states.lua,
--           completed ever, failed ever, dead ever, crashed ever, cancelled ever, enqueued ever, envelope at the head or "",
--           next due in ms or -1,
--           now, paused since or "", paused until or "", concurrency or "", rate or "", each group's concurrency or "",
--           each group's rate or ""}
--
-- Sent twice: it only reads.
-- require: base, absent, queue_numbers

local P = KEYS[1]
if not P then return redis.error_reply('ERR @NAME@: KEYS[1] is missing') end
return numbers_of(P)
