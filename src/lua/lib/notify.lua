-- Tells who waits for tasks that they have ended. Costs nothing while settings has no "waiters".
local function notify(P, ids, state)
  for i = 1, #ids do
    if call('ZREM', P .. 'waiters', ids[i]) == 1 then
      call('PUBLISH', P .. 'done:' .. ids[i], state)
    end
  end
end
