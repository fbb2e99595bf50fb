#!lua flags=allow-oom
-- heartbeat: a session lives on, and its worker's sums reach the queue's statistics.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id; "": none has begun here, the queue is looked after (lib/upkeep.lua); reply {1, 0, ...}
-- ARGV[2]  how long it lives without another heartbeat, in ms
-- then, when there is something to add to the statistics of a day (docs/protocol.md):
-- ARGV[3]  the number of this flush, larger than that of any before it in this session
-- ARGV[4]  the day, in days since the epoch
-- ARGV[5]  how many sums; for each: its field, and what to add to it; then for each kind of error: the kind, how many
--          attempts that failed so were retried, how many tasks died of it
-- reply    [1] 1, or 0 when the session is gone (its tasks too, and its last sums were not added)
--          [2] how many tasks it holds; fields that another version keeps about the session count, too
--          [3] 1 when a wake-up waits for a thread of the queue, which only stands while none waits for it; else 0
--
-- Sent twice: a flush whose number is not larger than the last one's was added before.
-- require: upkeep, whole

local call = redis.call

-- What is wrong with the sums that were brought, or nil.
local function sums_fault()
  local MOST, count = @LATEST@, whole(ARGV[5], 0, 4000)
  if not whole(ARGV[3], 0, MOST) or not whole(ARGV[4], 0, 100000000) or not count then return true end
  local kinds = 6 + 2 * count
  if #ARGV < kinds - 1 or (#ARGV - kinds + 1) % 3 ~= 0 then return true end
  for i = 7, kinds - 1, 2 do
    if not whole(ARGV[i], -MOST, MOST) then return true end
  end
  for i = kinds, #ARGV, 3 do
    if not whole(ARGV[i + 1], 0, MOST) or not whole(ARGV[i + 2], 0, MOST) then return true end
  end
end

local life = whole(ARGV[2], 0, 9223372036854775808)
if not KEYS[1] or not ARGV[1] or not life or ARGV[3] and sums_fault() then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are a session and its life in ms, the others sums of a day')
end
life = math.min(life, 4503599627370496)
local P, session = KEYS[1], ARGV[1]
local running = P .. 'running:' .. session
local last = session == '' or call('HGET', running, '#flushed')
if not last then return {0, 0, 0} end
local time = call('TIME')
local now = time[1] * 1000 + (time[2] - time[2] % 1000) / 1000
local known = call('HGET', P .. 'settings', 'upkeep')
local upkeep, _, _, back = nil, nil, nil, nil
if known or session ~= '' then upkeep, _, _, back = next_upkeep(known, now, life) end
if upkeep and not back then call('HSET', P .. 'settings', 'upkeep', upkeep) end
local woken = call('EXISTS', P .. 'wake')
if session == '' then return {1, 0, woken} end
call('ZADD', P .. 'sessions', 'XX', string.format('%d', now + life), session)

-- Kinds are bounded: those beyond count as the kind "". (What stands in a field may be no number, if somebody else wrote it:
-- that sum is not added, and nothing else fails of it.)
local KINDS = @ERROR_KINDS_MAX@
local function add_kind(call, key, kind, retried, dead)
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
  local call = redis.pcall
  local days = tonumber(call('HGET', P .. 'settings', 'stats_days')) or 30
  if days <= 0 then return end
  local key, kinds = P .. 'stats:' .. ARGV[4], 6 + 2 * ARGV[5]
  for i = 6, kinds - 1, 2 do call('HINCRBY', key, ARGV[i], ARGV[i + 1]) end
  for i = kinds, #ARGV, 3 do add_kind(call, key, ARGV[i], ARGV[i + 1], ARGV[i + 2]) end
  call('EXPIREAT', key, string.format('%d', (ARGV[4] + 1 + days) * 86400))
end

if ARGV[3] and tonumber(ARGV[3]) > (tonumber(last) or 0) then
  -- First of all: what fails below is then not done again and again.
  call('HSET', running, '#flushed', ARGV[3])
  add_stats()
end
return {1, call('HLEN', running) - 3, woken}
