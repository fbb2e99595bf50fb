#!lua
-- cron: a queue's recurring entries. When one is due, maintain.lua says so; whoever called it works out which of the
-- entry's times, its slots, have come and when it is due next, and fire.lua makes its tasks.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "set", "remove", "pause", "resume"; cron_look.lua tells of entries
-- set:     ARGV[2] name, ARGV[3] its definition: a line of JSON that describes it (docs/protocol.md), a newline, and
--          what its tasks' envelopes have after '{"at":<now>,'; ARGV[4] "paused": one that is new is paused
--          reply: 1 new, 2 changed, 0 the same as before (its time is left alone). Two definitions with "layered" are
--          the same if they are up to its value: layers may make another task of the same one. The new one is stored
-- remove, pause, resume: ARGV[2] name; reply: 1, 0 (it was so before, or has ended and is to resume), -1 no such entry
--
-- An entry that is new, changed (also if it had ended) or resumed is due at once, which is none of its slots: so the
-- first worker that sees it finds the next one, by its own zone, and whoever sets an entry need not know how to. One that
-- is paused stays so when it is changed.
--
-- Sent twice: it comes to the same; but the second reply says 0, or -1 of one that was removed.
-- require: base, cron_stopped

local P, verb, name, definition = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if not (name and verb and find(' set remove pause resume ', ' ' .. verb .. ' ', 1, true)) then
  return redis.error_reply('ERR @NAME@: it takes "set", "remove", "pause" or "resume", and a name')
end
do
-- require: expect
  local fault = unfit(KEYS[1])
  if fault then return fault end
end

local known = call('HGET', P .. 'cron', name)
local function stopped()
  return cron_stopped(call('ZSCORE', P .. 'cron:due', name), call('HGET', P .. 'cron:stopped', name), known,
    call('HGET', P .. 'cron:runs', name))
end

-- The millisecond that has begun is past.
local function look_at_it()
  local due = clock() + 1
  call('ZADD', P .. 'cron:due', text(due), name)
  call('HDEL', P .. 'cron:stopped', name)
  announce_due(P, due)
end

local function pause()
  call('ZREM', P .. 'cron:due', name)
  call('HSET', P .. 'cron:stopped', name, 'paused')
end

if verb == 'set' then
  local line_end = definition and find(definition, '\n', 1, true)
  if not line_end or not decoded(sub(definition, 1, line_end - 1)) then
    return redis.error_reply('ERR cron: the definition does not begin with a line of JSON')
  end
  if known == definition then return 0 end
  local source = match(definition, '^[^\n]-,"layered":"%w+"')
  if source and known and sub(known, 1, #source) == source then
    call('HSET', P .. 'cron', name, definition)
    return 0
  end
  local is_paused = not known and ARGV[4] == 'paused' or known and stopped() == 'paused'
  call('HSET', P .. 'cron', name, definition)
  call('HDEL', P .. 'cron:runs', name)
  if is_paused then pause() else look_at_it() end
  return known and 2 or 1
end
if not known then return -1 end
if verb == 'resume' then
  local was = stopped()
  if was ~= '' then look_at_it() end
  return was == 'paused' and 1 or 0
end
if verb == 'remove' then
  call('HDEL', P .. 'cron', name)
  call('HDEL', P .. 'cron:last', name)
  call('HDEL', P .. 'cron:runs', name)
  call('HDEL', P .. 'cron:stopped', name)
  call('ZREM', P .. 'cron:due', name)
  return 1
end
if stopped() == 'paused' then return 0 end
pause()
return 1
