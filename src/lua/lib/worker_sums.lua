-- The sums that a worker adds to the statistics of a day (docs/protocol.md), in the arguments of heartbeat.lua.
--
-- requires: whole
-- gives: add_sums, are_sums

-- given: ARGV of heartbeat.lua. Returns the index of the first of the sums by kind, or nil: these are no sums.
local function are_sums(given)
  local MAX, count = @LATEST@, whole(given[5], 0, 4000)
  if not whole(given[3], 0, MAX) or not whole(given[4], 0, 100000000) or not count then return nil end
  local kinds = 6 + 2 * count
  if #given < kinds - 1 or (#given - kinds + 1) % 3 ~= 0 then return nil end
  for i = 7, kinds - 1, 2 do
    if not whole(given[i], -MAX, MAX) then return nil end
  end
  for i = kinds, #given, 3 do
    if not whole(given[i + 1], 0, MAX) or not whole(given[i + 2], 0, MAX) then return nil end
  end
  return kinds
end

-- A day has a limited number of kinds: those beyond it count as the kind "".
local function add_kind(key, kind, retried, dead)
  local call = redis.pcall
  local known = call('HMGET', key, 'retried:' .. kind, 'dead:' .. kind, 'kinds')
  if not known[1] and not known[2] and kind ~= '' then
    if (tonumber(known[3]) or 0) >= @ERROR_KINDS_MAX@ then
      kind = ''
    else
      call('HINCRBY', key, 'kinds', 1)
    end
  end
  if retried ~= '0' then call('HINCRBY', key, 'retried:' .. kind, retried) end
  if dead ~= '0' then call('HINCRBY', key, 'dead:' .. kind, dead) end
end

-- kinds: as from are_sums. A field may hold no number, if another program wrote it: that sum is not added, and all else is.
local function add_sums(P, given, kinds)
  local call = redis.pcall
  local days = tonumber(call('HGET', P .. 'settings', 'stats_days')) or 30
  if days <= 0 then return end
  local key = P .. 'stats:' .. given[4]
  for i = 6, kinds - 1, 2 do call('HINCRBY', key, given[i], given[i + 1]) end
  for i = kinds, #given, 3 do add_kind(key, given[i], given[i + 1], given[i + 2]) end
  call('EXPIREAT', key, string.format('%d', (given[4] + 1 + days) * 86400))
end
