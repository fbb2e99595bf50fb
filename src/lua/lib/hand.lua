-- Handing over: a thread that found nothing stands in `idle`, the one that came last first, and blocks on a list of its
-- own. A task that comes while nothing is ready is leased to such a thread at once and pushed into that list, so that
-- it needs no turn to be found.
--
--   idle                     list  "<session>:<thread>"; not while a token stands in `wake`, nor while the queue is
--                                  paused or has a gate (lib/limit_state.lua)
--   hand:<session>:<thread>  list  "<ms> <id>" and, behind a newline, the envelope: a task that was leased to it then;
--                                  or empty: it is to look (lib/wake_one.lua)
--
-- requires: worker_alive
-- gives: hand_to_idle

-- Of one plain task. now: ms, as text. Returns 2 when it is somebody's; 'careful' when it is nothing for the common path; the error
-- of a command; or nil: nobody was there, of a hundred at most, and the task is to be ready.
local function hand_to_idle(P, now, id, envelope)
  local entry, passed, call = redis.call('LPOP', P .. 'idle'), 0, redis.call
  while entry do
    local colon = string.find(entry, ':', 1, true)
    local session = string.sub(entry, 1, colon - 1)
    local running = P .. 'running:' .. session
    -- That session stands: 2, and something is ready: 1 more.
    local found = call('EXISTS', running, running, P .. 'ready')
    if found > 1 and worker_alive(P, session) then
      -- A field that begins with '#' would be taken for one about the session, and a line end for that of the id. Such ids
      -- are refused.
      local odd = string.byte(id) < @ID_BYTE_MIN@ or string.find(id, '\n', 1, true)
      if found == 3 or odd or call('HSETNX', P .. 'tasks', id, envelope) == 0 then
        call('LPUSH', P .. 'idle', entry)
        return found == 2 and 'careful' or nil
      end
      local wrong = redis.pcall('HSET', running, id, now .. ' ' .. string.sub(entry, colon + 1))
      if wrong == 1 or wrong == 0 then
        wrong = redis.pcall('LPUSH', P .. 'hand:' .. entry, now .. ' ' .. id .. '\n' .. envelope)
        if wrong == 1 or type(wrong) == 'number' then return 2 end
      end
      -- The user may not call it, or a key has the wrong type: the task did not come. The thread is as idle as before; but one
      -- of which a key has the wrong type would hold up all tasks.
      redis.pcall('HDEL', running, id)
      redis.pcall('HDEL', P .. 'tasks', id)
      if not string.find(wrong.err, '^WRONGTYPE') then redis.pcall('LPUSH', P .. 'idle', entry) end
      return wrong
    end
    -- Nobody may be there: it is not to hold up a task.
    if found > 1 then wake_thread(P, session, entry) end
    passed = passed + 1
    if passed >= @IDLE_PASSED_MAX@ then return end
    entry = call('LPOP', P .. 'idle')
  end
end
