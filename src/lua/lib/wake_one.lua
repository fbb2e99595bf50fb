-- Wakes one thread. The thread that came to `idle` last receives an empty item, which means: poll the queue
-- (lib/hand.lua). If no thread is idle, a token is put into `wake`, on which other threads block; there is one token at
-- most, and while it is there nobody is idle. A thread that finds more tasks than it takes wakes the next one.
--
--   woken:<session>  set  "<session>:<thread>" of each of its threads that was sent an empty item, while the session
--                         stands
--
-- requires: wake_all_later, worker_alive
-- gives: wake_one

-- A thread whose keys another program has taken is passed over, too: an error here would come in the middle of a step.
-- If the first @IDLE_PASSED_MAX@ idle threads do not exist any more, maintain.lua wakes the others later, and a token
-- is put into `wake`. Returns true in that case.
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
