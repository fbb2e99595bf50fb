-- About `most` of a session's leases, oldest first: {{id, lease}, ...}, without what the session keeps about itself
-- (fields that begin with '#').
--
-- requires: base
-- gives: forget_handed, forget_idle, forget_woken, leases_of

local HASH_SIGN = 35
local function leases_of(key, most)
  local cursor, leases = '0', {}
  repeat -- (a hash that was large may be empty at its beginning)
    local page = call('HSCAN', key, cursor, 'COUNT', most)
    local found = page[2]
    cursor = page[1]
    for i = 1, #found, 2 do
      if byte(found[i]) ~= HASH_SIGN then leases[#leases + 1] = {found[i], found[i + 1]} end
    end
  until #leases > 0 or cursor == '0'
  -- Of those that were leased together, "9" before "10". Texts are compared without a call of Lua for each two.
  local keys, by_key = {}, {}
  for i, lease in ipairs(leases) do
    keys[i] = lease[2] .. '\0' .. string.char(math.min(#lease[1], 255)) .. lease[1]
    by_key[keys[i]] = lease
  end
  table.sort(keys)
  for i = 1, #keys do leases[i] = by_key[keys[i]] end
  -- What is unpacked must fit on the stack of Redis's Lua, and a page of a small hash is all of it.
  for i = #leases, 1001, -1 do leases[i] = nil end
  return leases
end

-- None of a session's threads is idle any more (lib/hand.lua). Bounded: those that stand far behind in `idle` may stay
-- there, and are passed over once the session is gone.
local IDLE_MOST = 1000
local function forget_idle(P, session)
  local idle, kept, mine = call('LRANGE', P .. 'idle', 0, IDLE_MOST - 1), {}, session .. ':'
  for i = #idle, 1, -1 do
    if sub(idle[i], 1, #mine) ~= mine then kept[#kept + 1] = idle[i] end
  end
  if #kept == #idle then return end
  call('LTRIM', P .. 'idle', #idle, -1)
  if #kept > 0 then call('LPUSH', P .. 'idle', unpack(kept)) end
end

-- A page of its threads that were told to look is told no more. Returns whether there are others.
local function forget_woken(P, session)
  local woken, done = call('SMEMBERS', P .. 'woken:' .. session), {}
  for i = 1, math.min(#woken, 200) do
    local hand = P .. 'hand:' .. woken[i]
    done[i] = woken[i]
    -- It may have been handed a task since.
    if call('LINDEX', hand, 0) == '' then call('DEL', hand) end
  end
  if #done > 0 then call('SREM', P .. 'woken:' .. session, unpack(done)) end
  return #done < #woken
end

-- What was handed to a session's threads and not taken: the lists go, with their leases. Returns which of the leases
-- these are: nobody has begun them.
local function forget_handed(P, session, leases)
  local untaken = {}
  for i = 1, #leases do
    local key = P .. 'hand:' .. session .. ':' .. (string.match(leases[i][2], ' (.*)$') or '')
    local handed = string.match(call('LINDEX', key, 0) or '', '^%d+ ([^\n]+)\n')
    if handed == leases[i][1] then
      untaken[handed] = true
      call('DEL', key)
    end
  end
  return untaken
end
