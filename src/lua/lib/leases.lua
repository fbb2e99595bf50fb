-- About `most` of a session's leases, oldest first: {{id, lease}, ...}, without what the session keeps about itself
-- (fields that begin with '#').
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

-- None of a session's threads is idle any more (lib/hand.lua). Bounded by how many threads it has, and those that stand far
-- behind in `idle` may stay there: they are passed over once the session is gone.
local IDLE_MOST = 1000
local function forget_idle(P, session)
  for _, entry in ipairs(call('LRANGE', P .. 'idle', 0, IDLE_MOST - 1)) do
    if sub(entry, 1, #session + 1) == session .. ':' then call('LREM', P .. 'idle', 1, entry) end
  end
  for _, entry in ipairs(call('SMEMBERS', P .. 'woken:' .. session)) do
    -- It may have been handed a task since.
    if call('LINDEX', P .. 'hand:' .. entry, 0) == '' then call('DEL', P .. 'hand:' .. entry) end
  end
  call('DEL', P .. 'woken:' .. session)
end

-- What was handed to a session's threads and not taken: the lists go, with their leases. Returns which of the leases
-- these are: nobody has begun them.
local function forget_handed(P, session, leases)
  local untaken = {}
  for i = 1, #leases do
    local key = P .. 'hand:' .. session .. ':' .. string.match(leases[i][2], ' (.*)$')
    local handed = string.match(call('LINDEX', key, 0) or '', '^%d+ ([^\n]+)\n')
    if handed == leases[i][1] then
      untaken[handed] = true
      call('DEL', key)
    end
  end
  return untaken
end
