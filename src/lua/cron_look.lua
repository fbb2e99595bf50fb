#!lua flags=no-writes
-- cron_look: tells of a queue's recurring entries (cron.lua).
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "get" or "list"
-- get:     ARGV[2] name; reply: {definition, due [ms; -1: it is not], stopped}, or nil: no such entry
-- list:    ARGV[2] the cursor: "0" at first, then what the last reply said; reply: {the next cursor, "0" at the end;
--          then name, definition, due [ms; -1: it is not], the id of the last task it made or "", how many it made
--          of those that it may or "", stopped, ...}; an entry may be listed twice
-- stopped: "" if it is due, "paused" or "ended"
--
-- Sent twice: it only reads.
-- require: base, cron_stopped, cron_page

local P, verb, name = KEYS[1], ARGV[1], ARGV[2]
if not name or verb ~= 'get' and not (verb == 'list' and #name <= 19 and find(name, '^%d+$')) then
  return redis.error_reply('ERR @NAME@: it takes "get" and a name, or "list" and a cursor')
end
do
-- require: expect
  local fault = unfit(KEYS[1])
  if fault then return fault end
end
if verb == 'get' then
  local known = call('HGET', P .. 'cron', name)
  if not known then return false end
  local due, mark = call('ZSCORE', P .. 'cron:due', name), call('HGET', P .. 'cron:stopped', name)
  return {known, tonumber(due) or -1, cron_stopped(due, mark, known, call('HGET', P .. 'cron:runs', name))}
end

return cron_page(P, name)
