-- Moves all threads in `idle` to `wake_later`, and notifies the schedulers: maintain.lua wakes these threads.
--
-- gives: wake_all_later

local function wake_all_later(P)
  local call = redis.call
  if redis.pcall('RENAMENX', P .. 'idle', P .. 'wake_later') ~= 1 then
    -- `wake_later` still has threads of an earlier call.
    local others = call('LPOP', P .. 'idle', 1000)
    while others do
      call('LPUSH', P .. 'wake_later', unpack(others))
      others = call('LPOP', P .. 'idle', 1000)
    end
  end
  local namespace, name = string.match(P, '^(.*):{(.*)}:$')
  if namespace then redis.pcall('PUBLISH', namespace .. ':control', 'due ' .. name .. ' 0') end
end
