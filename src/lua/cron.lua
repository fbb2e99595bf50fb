#!lua
-- cron: a queue's recurring entries. When one is due, tend.lua says so; whoever called it works out which of the
-- entry's times, its slots, have come and when it is due next, and fire.lua makes its tasks.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "set", "get", "remove", "pause", "resume", "list"
-- set:     ARGV[2] name, ARGV[3] its definition: a line of JSON that describes it (docs/protocol.md), a newline, and
--          what its tasks' envelopes have after '{"at":<now>,'; ARGV[4] "paused": one that is new is paused
--          reply: 1 new, 2 changed, 0 the same as before (its time is left alone)
-- get:     ARGV[2] name; reply: {definition, due [ms; -1: paused or never]}, or nil: no such entry
-- remove, pause, resume: ARGV[2] name; reply: 1, 0 (it was so before), -1 no such entry
-- list:    ARGV[2] the cursor: "0" at first, then what the last reply said; reply: {the next cursor, "0" at the end; then name,
--          definition, due [ms; -1: paused or never], the id of the last task it made or "", ...}; an entry may be listed twice
--
-- An entry that is new, changed or resumed is due at once, which is none of its slots: so the first worker that sees it
-- finds the next one, by its own zone, and whoever sets an entry need not know how to.
--
-- Sent twice: it comes to the same; but the second reply says 0, or -1 of one that was removed.
-- include: lib/base.lua

local P, verb, name, definition = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if not (name and verb and find(' set get remove pause resume list ', ' ' .. verb .. ' ', 1, true)) or
  verb == 'list' and not (#name <= 19 and find(name, '^%d+$')) then
  return redis.error_reply('ERR @NAME@: it takes "set", "get", "remove", "pause" or "resume", and a name; or "list" and a cursor')
end
do
-- include: lib/expect.lua
  local fault = unfit(KEYS[1])
  if fault then return fault end
end

-- The millisecond that has begun is past.
local function look_at_it()
  local due = clock() + 1
  local added = call('ZADD', P .. 'cron:due', text(due), name)
  announce_due(P, due)
  return added
end

local PAGE = 200
local function list_page(cursor)
  local page = call('HSCAN', P .. 'cron', cursor, 'COUNT', PAGE)
  local found, names, reply = page[2], {}, {page[1]}
  for i = 1, #found, 2 do names[#names + 1] = found[i] end
  if #names == 0 then return reply end
  local due, last = call('ZMSCORE', P .. 'cron:due', unpack(names)), call('HMGET', P .. 'cron:last', unpack(names))
  for i = 1, #names do
    local n = #reply
    reply[n + 1], reply[n + 2] = names[i], found[2 * i]
    reply[n + 3], reply[n + 4] = tonumber(due[i]) or -1, last[i] or ''
  end
  return reply
end

if verb == 'list' then return list_page(name) end
local known = call('HGET', P .. 'cron', name)
if verb == 'set' then
  local line_end = definition and find(definition, '\n', 1, true)
  if not line_end or not decoded(sub(definition, 1, line_end - 1)) then
    return redis.error_reply('ERR cron: the definition does not begin with a line of JSON')
  end
  if known == definition then return 0 end
  call('HSET', P .. 'cron', name, definition)
  local paused = not known and ARGV[4] == 'paused' or known and not call('ZSCORE', P .. 'cron:due', name)
  if not paused then look_at_it() end
  return known and 2 or 1
end
if verb == 'get' then return known and {known, tonumber(call('ZSCORE', P .. 'cron:due', name)) or -1} end
if not known then return -1 end
if verb == 'resume' then return call('ZSCORE', P .. 'cron:due', name) and 0 or look_at_it() end
if verb == 'remove' then
  call('HDEL', P .. 'cron', name)
  call('HDEL', P .. 'cron:last', name)
  call('ZREM', P .. 'cron:due', name)
  return 1
end
return call('ZREM', P .. 'cron:due', name)
