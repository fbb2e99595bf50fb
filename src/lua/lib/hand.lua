-- Handing over: a thread that found nothing stands in `idle`, the one that came last first, and blocks on a list of its
-- own. A task that comes while nothing is ready is leased to such a thread at once and pushed into that list, so that
-- it needs no turn to be found.
--
--   idle                     list  "<session>:<thread>"; not while a token stands in `wake`, nor while the queue is
--                                  paused or has limits or events (lib/limit_state.lua)
--   hand:<session>:<thread>  list  "<ms> <id>" and, behind a newline, the envelope: a task that was leased to it then;
--                                  or an empty item: the thread is to poll the queue (lib/wake_one.lua)
--
-- requires: transitions_plain, worker_alive
-- gives: hand_to_idle

-- Hands one plain task over. now: ms, as text. Returns one of these:
--   2          a thread has the task
--   'careful'  another task has the id, or the id needs a closer look: the careful path decides
--   an error   Redis refused a command; the task does not exist
--   nil        the caller makes the task ready: another one is ready, payloads have a limit, no thread is idle, or the
--              first @IDLE_PASSED_MAX@ idle threads do not exist any more
local function hand_to_idle(P, now, id, envelope)
  local entry, passed, run, fault = redis.call('LPOP', P .. 'idle'), 0, redis.pcall, nil
  while entry do
    local colon = string.find(entry, ':', 1, true)
    local session = string.sub(entry, 1, colon - 1)
    local running = P .. 'running:' .. session
    -- EXISTS counts a key as often as it is named: 3 for the session, 1 for a ready task, 1 for a limit of payloads.
    local found = run('EXISTS', running, running, running, P .. 'ready', P .. 'payload_limited')
    local stands = found == 3 or found == 4 or found == 5
    if stands and worker_alive(P, session) then
      -- In the session's hash a field that begins with '#' tells of the session, and in the item a newline ends the id.
      -- The careful path refuses such ids.
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
    -- The worker does not listen, and may be dead: the task does not wait for it. If it lives, the empty item wakes its
    -- thread.
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
