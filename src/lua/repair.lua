#!lua flags=allow-oom
-- repair: repairs something that check.lua found in a queue, if it still finds it.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the kind of the finding
-- ARGV[2]  its subject
-- reply    "none": there is no such finding any more; "left <what was found>": it is still there, as it cannot be
--          repaired now; or "repaired <what was found>"
--
-- src/protocol/definition/findings.lua says what each repair does. Repairs run also when Redis is out of memory
-- (allow-oom): they remove data, or add a few fields.
--
-- Sent twice: the second call finds nothing.
-- require: base
-- In a function, where the names above cost less to capture, and as there is room for 200 locals: see docs/scripts.md.
return (function()
-- require: foreign_key, sequence, event, history, retention, unique, dependency_edges, task_state
return (function()
-- require: findings, repairs

local P, kind, subject = KEYS[1], ARGV[1] or '', ARGV[2]
if not P or not FINDINGS[kind] or not REPAIRS[kind] or not subject then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are a kind of finding and its subject')
end
do
-- require: allowed
  local fault = rights_fault(P, '@COMMANDS@')
  if fault then return redis.error_reply(fault) end
end

local detail = FINDINGS[kind](P, subject)
if not detail then return 'none' end
REPAIRS[kind](P, subject, detail)
-- A task of which a repair made a second finding has it still in another form.
return (FINDINGS[kind](P, subject) and 'left ' or 'repaired ') .. detail
end)()
end)()
