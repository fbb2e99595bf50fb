-- From now on nothing is handed over (lib/hand.lua): all that wait for that look, and then wait for a wake-up.
local function rouse(P)
  for _, entry in ipairs(call('LRANGE', P .. 'idle', '0', '-1')) do
    call('SADD', P .. 'woken:' .. string.match(entry, '^[^:]*'), entry)
    call('LPUSH', P .. 'hand:' .. entry, '')
  end
  call('DEL', P .. 'idle')
end
