#!lua flags=allow-oom
-- cancelled: was a task cancelled while it runs, or its lease ended by hand? For a worker that may have missed what the
-- control channel said.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  optional: the session that leased it, with
-- ARGV[3]  the lease, "<since ms> <thread>"
-- reply    2: that session is there, and does not hold this lease any more (lib/revoke.lua). Else, where the task was
--          cancelled, 1 or, if there is one, the reason; else 0
--
-- Sent twice: it only reads. It has no flag that says so: a replica, which may be behind, would then answer that the
-- lease is gone.
-- require: base, cancel_mark

if not KEYS[1] or not ARGV[1] or ARGV[2] and not ARGV[3] then
  return redis.error_reply('ERR @NAME@: ARGV[1] is a task; ARGV[2] and ARGV[3], if given, are its session and lease')
end
if ARGV[2] then
  local held = call('HMGET', KEYS[1] .. 'running:' .. ARGV[2], '#', ARGV[1])
  if held[1] and held[2] ~= ARGV[3] then return 2 end
end
local envelope = call('HGET', KEYS[1] .. 'tasks', ARGV[1])
if not envelope or not is_cancelled(envelope) then return 0 end
local reason = not header(envelope).malformed and decoded(sub(envelope, 1, find(envelope, '\n', 1, true) - 1)).reason
return type(reason) == 'string' and reason ~= '' and reason or 1
