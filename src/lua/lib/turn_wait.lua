-- What a turn that found nothing leaves behind, so that its thread is told of the next task.
--
-- requires: shortcuts, turn_settings
-- gives: leave_idle, stand_idle, take_next_away

-- The thread leaves `idle`, where it waited since an earlier call. Returns whether it was handed a task or an empty item
-- meanwhile: then it is not in `idle` any more, and its list holds that.
local function leave_idle(P, waiter) -- inline
  return call('LREM', P .. 'idle', '0', waiter) == 0 and call('EXISTS', P .. 'hand:' .. waiter) == 1
end

-- From now on somebody may wait. While `order` has "next", enqueue.lua wakes nobody: see lib/sequence.lua.
local function take_next_away(P) -- inline
  local last = call('HGET', P .. 'order', 'next')
  if last then
    if tonumber(last) > @SCORE_START@ then call('HSET', P .. 'order', '0', last) end
    call('HDEL', P .. 'order', 'next')
  end
end

-- The thread is to be handed the next task (lib/hand.lua): it stands in `idle`, the first of all. Returns whether it does. It
-- does not where threads wait for tokens: the queue is paused or has limits, the session has not begun, or something is ready
-- (its first task was put off). EXISTS counts the session's key twice: 2 means that the session is there, and nothing is ready.
local function stand_idle(P, session, thread, settings) -- inline
  local running = P .. 'running:' .. session
  if settings[PAUSED] or settings[GATE] or call('EXISTS', running, running, P .. 'ready') ~= 2 then return false end
  call('LPUSH', P .. 'idle', session .. ':' .. thread)
  -- Nobody waits for a token that stands in `wake`: whoever waits for tokens would have taken it. As nothing is ready, it has
  -- nothing to tell either.
  call('DEL', P .. 'wake')
  return true
end
