-- Handing over: a thread that found nothing stands in `idle`, the one that came last first, and blocks on a list of its
-- own. A task that comes while nothing is ready is leased to such a thread at once and pushed into that list, so that
-- it needs no turn to be found.
--
--   idle                     list  "<session>:<thread>"; not while a token stands in `wake`, nor while the queue is
--                                  paused or has a gate (lib/gate.lua)
--   hand:<session>:<thread>  list  "<ms> <id>" and, behind a newline, the envelope: a task that was leased to it then;
--                                  or empty: it is to look (lib/wake.lua)
--
-- This is a part of enqueue.lua alone, of one plain task: it returns 2 when the task is somebody's, and leaves 'rare' in
-- `entry` where it is nothing for the plain path.
-- Of a hundred that are not there no more are asked: the task is ready then.
local entry, passed = call('LPOP', P .. 'idle'), 0
while entry do
  local colon = string.find(entry, ':', 1, true)
  local session = string.sub(entry, 1, colon - 1)
  local running = P .. 'running:' .. session
  -- That session stands: 2, and something is ready: 1 more.
  local found, there = call('EXISTS', running, running, P .. 'ready'), false
  if found > 1 then
-- include: lib/listens.lua
    there = (listeners or 0) > 0
  end
  if there then
    -- A field that begins with '#' would be taken for one about the session, and a line end for that of the id. Such ids
    -- are refused.
    local odd = string.byte(ARGV[2]) < @ID_BYTE_MIN@ or find(ARGV[2], '\n', 1, true)
    if found == 3 or odd or call('HSETNX', P_tasks, ARGV[2], envelope) == 0 then
      call('LPUSH', P .. 'idle', entry)
      if found == 2 then entry = 'rare' end
      break
    end
    local now = seconds .. millis
    local wrong = redis.pcall('HSET', running, ARGV[2], now .. ' ' .. string.sub(entry, colon + 1))
    if wrong == 1 or wrong == 0 then
      wrong = redis.pcall('LPUSH', P .. 'hand:' .. entry, now .. ' ' .. ARGV[2] .. '\n' .. envelope)
      if wrong == 1 or type(wrong) == 'number' then return 2 end
    end
    -- The user may not call it, or a key has the wrong type: the task did not come.
    redis.pcall('HDEL', running, ARGV[2])
    redis.pcall('HDEL', P_tasks, ARGV[2])
    return wrong
  end
  -- Nobody may be there: it is not to hold up a task.
  if found > 1 then
-- include: lib/heeds.lua
    nudge(P, session, entry)
  end
  passed = passed + 1
  if passed >= @IDLE_PASSED_MAX@ then break end
  entry = call('LPOP', P .. 'idle')
end
