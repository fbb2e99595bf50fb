#!lua flags=allow-oom
-- beat: a session lives on, and its worker's sums reach the queue's counters.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the session's id
-- ARGV[2]  how long it lives without another heartbeat, in ms
-- ARGV[3]  completed, ARGV[4] failed, ARGV[5] dead: what the session has settled since it began
-- reply    [1] 1, or 0 when the session is gone (its tasks too, and its last sums were not added)
--          [2] how many tasks it holds
--
-- Sent twice: sums are totals, and only what is new since the last heartbeat is added.

local call = redis.call
local P, session = KEYS[1], ARGV[1]
local running = P .. 'running:' .. session
local last = call('HGET', running, '#totals')
if not last then return {0, 0} end
local time = call('TIME')
call('ZADD', P .. 'sessions', 'XX', time[1] * 1000 + (time[2] - time[2] % 1000) / 1000 + ARGV[2], session)
local totals = ARGV[3] .. ' ' .. ARGV[4] .. ' ' .. ARGV[5]
if totals ~= last and totals ~= '0 0 0' then
  local completed, failed, dead = string.match(last, '^(%d+) (%d+) (%d+)$')
  local before = {completed or 0, failed or 0, dead or 0}
  for i, name in ipairs({'completed', 'failed', 'dead'}) do
    local more = ARGV[2 + i] - before[i]
    if more > 0 then call('HINCRBY', P .. 'counters', name, more) end
  end
  call('HSET', running, '#totals', totals)
end
return {1, call('HLEN', running) - 3}
