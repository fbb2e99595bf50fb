#!lua flags=allow-oom
-- beat: a session lives on, and its worker's sums reach the queue's counters and statistics.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id; "": none has begun here, the queue is looked after (lib/upkeep.lua); reply {1, 0}
-- ARGV[2]  how long it lives without another heartbeat, in ms
-- ARGV[3]  completed, ARGV[4] failed, ARGV[5] dead: what the session has settled since it began
-- then, when there is something to add to the statistics of a day (docs/protocol.md):
-- ARGV[6]  the number of this flush, larger than that of any before it in this session
-- ARGV[7]  the day, in days since the epoch
-- ARGV[8]  how many sums; for each: its field, and what to add to it; then for each kind of error: the kind, how many
--          attempts that failed so were retried, how many tasks died of it
-- reply    [1] 1, or 0 when the session is gone (its tasks too, and its last sums were not added)
--          [2] how many tasks it holds
--
-- Sent twice: sums are totals, and only what is new since the last heartbeat is added; a flush whose number is not
-- larger than the last one's was added before.

-- include: lib/upkeep.lua

local call = redis.call
local P, session = KEYS[1], ARGV[1]
local running = P .. 'running:' .. session
local last = session == '' or call('HGET', running, '#totals')
if not last then return {0, 0} end
local time = call('TIME')
local now = time[1] * 1000 + (time[2] - time[2] % 1000) / 1000
local known = call('HGET', P .. 'settings', 'upkeep')
local upkeep = (known or session ~= '') and look_after(known, now, tonumber(ARGV[2]))
if upkeep then call('HSET', P .. 'settings', 'upkeep', upkeep) end
if session == '' then return {1, 0} end
call('ZADD', P .. 'sessions', 'XX', string.format('%d', now + ARGV[2]), session)

-- Kinds are bounded: those beyond count as the kind "".
local KINDS = 100
local function add_kind(key, kind, retried, dead)
  local known = call('HMGET', key, 'retried:' .. kind, 'dead:' .. kind, 'kinds')
  if not known[1] and not known[2] and kind ~= '' then
    if (tonumber(known[3]) or 0) >= KINDS then
      kind = ''
    else
      call('HINCRBY', key, 'kinds', 1)
    end
  end
  if retried ~= '0' then call('HINCRBY', key, 'retried:' .. kind, retried) end
  if dead ~= '0' then call('HINCRBY', key, 'dead:' .. kind, dead) end
end

local function add_stats()
  local days = tonumber(call('HGET', P .. 'settings', 'stats_days')) or 30
  if days <= 0 then return end
  local key, kinds = P .. 'stats:' .. ARGV[7], 9 + 2 * ARGV[8]
  for i = 9, kinds - 1, 2 do call('HINCRBY', key, ARGV[i], ARGV[i + 1]) end
  for i = kinds, #ARGV, 3 do add_kind(key, ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
  call('EXPIREAT', key, string.format('%d', (ARGV[7] + 1 + days) * 86400))
end

local totals = ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[5]
local completed, failed, dead, flushed = string.match(last, '^(%d+) (%d+) (%d+) ?(%d*)$')
local is_new = ARGV[6] and tonumber(ARGV[6]) > (tonumber(flushed) or 0)
if is_new then flushed = ARGV[6] end
if flushed and flushed ~= '' then totals = totals .. ' ' .. flushed end
if totals ~= last and totals ~= '0 0 0' then
  -- (First of all: what fails below is then not done again and again.)
  call('HSET', running, '#totals', totals)
  local before = {completed or 0, failed or 0, dead or 0}
  for i, name in ipairs({'completed', 'failed', 'dead'}) do
    local more = ARGV[2 + i] - before[i]
    if more > 0 then call('HINCRBY', P .. 'counters', name, more) end
  end
  if is_new then add_stats() end
end
return {1, call('HLEN', running) - 3}
