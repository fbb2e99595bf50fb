-- Handing over: an idle thread, which found no task, is in the list `idle` and blocks on a list of its own. If a task
-- is enqueued while no other task is ready, the script leases it to the thread that became idle last and pushes it into
-- that list. So the thread need not call turn.lua to get it.
--
--   idle                     list  "<session>:<thread>" of each idle thread. Empty while there is a token in `wake`,
--                                  and while the queue is paused or has limits or events (lib/limit_state.lua)
--   hand:<session>:<thread>  list  an item is "<ms> <id>", a newline and the envelope: a task that was leased to the
--                                  thread at that time. Or it is empty: the thread polls the queue (lib/wake_one.lua)
--
-- requires: transitions_plain, worker_alive
-- gives: hand_to_idle

-- Hands one plain task over. now: ms, as text. Returns one of these:
--   2          a thread has the task
--   'careful'  the careful path decides, because a task has the id, or the id may be malformed
--   an error   Redis refused a command; the task does not exist
--   nil        the caller makes the task ready, because another one is ready, payloads have a limit, no thread is idle,
--              or the first @IDLE_PASSED_MAX@ idle threads are of sessions that have ended or of workers that do not
--              listen (lib/worker_alive.lua)
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
      -- Such an id would do harm: fields of running:<session> that begin with '#' are no leases, and a newline ends the
      -- id in an item. The careful path refuses it.
      local odd = string.byte(id) < @ID_BYTE_MIN@ or string.find(id, '\n', 1, true)
      local is_new = found == 3 and not odd and run('HSETNX', P .. 'tasks', id, envelope) or 0
      if is_new == 0 then
        redis.call('LPUSH', P .. 'idle', entry)
        return found == 3 and 'careful' or nil
      end
      -- The user may not call HSETNX, or `tasks` has the wrong type.
      if is_new ~= 1 then return stay_idle(P, entry, is_new) end
      local reply = try_enter_running_one(running, id, now .. ' ' .. string.sub(entry, colon + 1))
      if reply == 1 or reply == 0 then
        reply = run('LPUSH', P .. 'hand:' .. entry, now .. ' ' .. id .. '\n' .. envelope)
        -- It is nearly always 1, and a comparison costs less than a call of `type`.
        if reply == 1 or type(reply) == 'number' then return 2 end
      end
      try_leave_running_one(running, id)
      run('HDEL', P .. 'tasks', id)
      return stay_idle(P, entry, reply)
    end
    -- The worker does not listen and may be dead, so it does not get the task. If it lives, the empty item wakes its
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
