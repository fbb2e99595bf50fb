-- Tells who waits for tasks that they have ended: clients, and children. Costs nothing while settings has no "waiters".
-- include: lib/links.lua
function notify(P, ids, state)
  for i = 1, #ids do
    if call('ZREM', P .. 'waiters', ids[i]) == 1 then
      publish(P, P .. 'done:' .. ids[i], state)
    end
  end
  local linked = call('SMISMEMBER', P .. 'linked', unpack(ids))
  -- Ends themselves take Redis time: a call with more than 64 lets fewer children go at once.
  readers.lets_go = math.max(readers.lets_go, 3 + math.floor((#ids - 64) / 16))
  for i = 1, #ids do
    if linked[i] == 1 then tell_children(P, ids[i], state) end
  end
end
