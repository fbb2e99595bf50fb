-- Wakes one thread. The thread that became idle last gets an empty item in its list, and then polls the queue
-- (lib/hand.lua). If no thread is idle, a token is added to the list `wake`, on which other threads block
-- (lib/wake_all.lua). There is at most one token, and while it exists no thread is idle. A thread that leaves tasks in
-- the queue wakes the next thread.
--
--   woken:<session>  set  "<session>:<thread>" of each thread that was sent an empty item. When the session ends, items
--                         that were not read are deleted (lib/leases.lua)
--
-- requires: wake_all_later, worker_alive
-- gives: wake_one

-- Skips threads whose sessions have ended, and threads whose keys have a wrong type, because an error here could end a
-- script halfway. A thread whose worker does not listen (lib/worker_alive.lua) gets its item, and then the next thread
-- is woken as well. After @IDLE_PASSED_MAX@ such threads the script adds a token to `wake`, leaves the other threads to
-- maintain.lua, and returns true.
local function wake_one(P)
  local call = redis.call
  if call('LLEN', P .. 'wake') > 0 then return end
  local entry, passed = call('LPOP', P .. 'idle'), 0
  while entry do
    local session = string.match(entry, '^[^:]*')
    local stands, fault = redis.pcall('EXISTS', P .. 'running:' .. session), nil
    if stands == 1 then
      fault = wake_popped(P, session, entry)
      if not fault and worker_alive(P, session) then return end
    elseif stands ~= 0 then
      fault = stay_idle(P, entry, stands)
    end
    if fault and not string.find(fault.err, '^WRONG') then error(fault) end
    passed = passed + 1
    if passed >= @IDLE_PASSED_MAX@ and call('EXISTS', P .. 'idle') == 1 then
      wake_all_later(P)
      call('LPUSH', P .. 'wake', '1')
      return true
    end
    entry = call('LPOP', P .. 'idle')
  end
  call('LPUSH', P .. 'wake', '1')
end
