-- All that stand in `idle` of P leave it, to be told to look by maintain.lua, which is due at once.
--
-- gives: wake_all_later

local function wake_all_later(P)
  local call = redis.call
  if redis.pcall('RENAMENX', P .. 'idle', P .. 'wake_later') ~= 1 then
    -- Some are left from the last time, which was just now.
    local others = call('LPOP', P .. 'idle', 1000)
    while others do
      call('LPUSH', P .. 'wake_later', unpack(others))
      others = call('LPOP', P .. 'idle', 1000)
    end
  end
  local namespace, name = string.match(P, '^(.*):{(.*)}:$')
  if namespace then redis.pcall('PUBLISH', namespace .. ':control', 'due ' .. name .. ' 0') end
end
