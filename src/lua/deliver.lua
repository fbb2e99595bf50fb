#!lua flags=allow-oom
-- deliver: a task hears how a parent of its ended that is in another queue. A message of that queue's outbox
-- (outbox.lua), or the answer of link.lua, carried here.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the child's id
-- ARGV[2]  the parent's handle
-- ARGV[3]  completed, dead, cancelled, deleted; cascade: the child is to be cancelled with it; moved: it waits for
--          another one of that queue instead
-- ARGV[4]  the number of the message R that registered the edge, or "" when it is not known
-- ARGV[5]  moved: the id of that one, or its handle where it is in another queue
-- reply    1
--
-- Sent twice: each edge ends once, and what is told of an earlier edge between the two does not end a later one.
-- require: base, foreign_key, sequence, schedule, event, history, retention, unique, dependency_edges, insert, death
-- require: dependency_notice, replacements

if #ARGV < 3 or not HOW[ARGV[3]] and ARGV[3] ~= 'cascade' and (ARGV[3] ~= 'moved' or not is_id(match(ARGV[5] or '', '^[%w._~-]+/(.*)$') or ARGV[5] or '')) then
  return redis.error_reply('ERR @NAME@: it takes a task, a parent, how that ended, and a number or nothing')
end
do
-- require: expect, readers, reads
  local fault = unfit(KEYS[1])
  if fault then return fault end
end
local P, id, parent, number = KEYS[1], ARGV[1], ARGV[2], ARGV[4]
if ARGV[3] == 'moved' then
  inherit(P, id, parent, number, ARGV[5])
  return 1
end
local reads = deliver(P, id, parent, ARGV[3], clock(), number)
-- The parent's queue expects it to read what has completed.
if ARGV[3] == 'completed' and not reads and tonumber(number) then
  local known = call('ZSCORE', P .. 'reads:' .. id, parent)
  if not known or tonumber(known) ~= tonumber(number) then readers.leave(P, id, {parent, number}) end
end
return 1
