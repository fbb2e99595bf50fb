-- Handing over: a thread that found nothing stands in `idle`, the one that came last first, and blocks on a list of its
-- own. A task that comes while nothing is ready is leased to such a thread at once and pushed into that list, so that
-- it needs no turn to be found.
--
--   idle                     list  "<session>:<thread>"; not while a token stands in `wake`, nor while the queue is
--                                  paused or has limits or events (lib/limit_state.lua)
--   hand:<session>:<thread>  list  "<ms> <id>" and, behind a newline, the envelope: a task that was leased to it then;
--                                  or empty: it is to look (lib/wake_one.lua)
--
-- requires: transitions_plain, worker_alive
-- gives: hand_to_idle

-- Hands one plain task over. now: ms, as text. Returns 2 when a thread has it; 'careful' when it is nothing for the common path; the
-- error of a command, and the task does not exist; or nil: something is ready, payloads have a limit, or none of the threads is there of
-- the first @IDLE_PASSED_MAX@, and the task is to be ready.
local function hand_to_idle(P, now, id, envelope)
  local entry, passed, run, fault = redis.call('LPOP', P .. 'idle'), 0, redis.pcall, nil
  while entry do
    local colon = string.find(entry, ':', 1, true)
    local session = string.sub(entry, 1, colon - 1)
    local running = P .. 'running:' .. session
    -- That session stands: 3, and something is ready, or payloads have a limit: 1 more each.
    local found = run('EXISTS', running, running, running, P .. 'ready', P .. 'payload_limited')
    local stands = found == 3 or found == 4 or found == 5
    if stands and worker_alive(P, session) then
      -- A field that begins with '#' would be taken for one about the session, and a line end for that of the id. Such ids
      -- are refused.
      local odd = string.byte(id) < @ID_BYTE_MIN@ or string.find(id, '\n', 1, true)
      local is_new = found == 3 and not odd and run('HSETNX', P .. 'tasks', id, envelope) or 0
      if is_new == 0 then
        redis.call('LPUSH', P .. 'idle', entry)
        return found == 3 and 'careful' or nil
      end
      -- Where the user may not call a command, or a key has the wrong type, the task did not come.
      if is_new ~= 1 then return stay_idle(P, entry, is_new) end
      local reply = try_enter_running_one(running, id, now .. ' ' .. string.sub(entry, colon + 1))
      if reply == 1 or reply == 0 then
        reply = run('LPUSH', P .. 'hand:' .. entry, now .. ' ' .. id .. '\n' .. envelope)
        -- Nearly always it is 1, and to call `type` costs more than to compare.
        if reply == 1 or type(reply) == 'number' then return 2 end
      end
      try_leave_running_one(running, id)
      run('HDEL', P .. 'tasks', id)
      return stay_idle(P, entry, reply)
    end
    -- Nobody may be there: it is not to hold up a task.
    if stands then
      fault = wake_popped(P, session, entry)
    elseif found ~= 0 and found ~= 1 and found ~= 2 then
      fault = stay_idle(P, entry, found)
    end
    if fault then return fault end
    passed = passed + 1
    if passed >= @IDLE_PASSED_MAX@ then return end
    entry = redis.call('LPOP', P .. 'idle')
  end
end
