-- The types of the keys of a queue with fixed names, from ../../protocol/definition/keys.lua. A command on a key of a
-- wrong type fails, perhaps after others have written. `events` is not checked, because writing to it may fail (`tell`
-- in lib/event.lua).
--
-- gives: has_wrong_type, wrong_type, wrong_type_of

local KEY_TYPES = @KEY_TYPES@
-- Checks the type of one key. Returns a WRONGTYPE error, or nil.
local function wrong_type_of(P, name, expected)
  local found = redis.pcall('TYPE', P .. name).ok
  if found and found ~= 'none' and found ~= expected then
    return 'WRONGTYPE reeve expects a ' .. expected .. ' at ' .. P .. name .. ', which is a ' .. found
  end
end

-- Checks all these keys. Returns an error for the first key of a wrong type, or nil.
local function wrong_type(P)
  for expected, names in pairs(KEY_TYPES) do
    for name in string.gmatch(names, '%S+') do
      local words = wrong_type_of(P, name, expected)
      if words then return words end
    end
  end
end

-- Whether a key has a wrong type, as far as two commands show: MGET finds strings at any of the keys, and ZINTERCARD
-- finds keys of sorted sets that are no sets. It reads no members, because one of its keys, the prefix itself, never
-- exists. A command that meets another wrong type fails (docs/limits.md). id: the keys of this task are checked, too.
local function has_wrong_type(P, id)
  local info, parents = P .. 'info:' .. (id or ''), P .. 'parents:' .. (id or '')
  local texts = redis.pcall('MGET', info, parents, @OTHER_KEYS@)
  for i = 1, #texts do
    if texts[i] then return true end
  end
  local sets = redis.pcall('ZINTERCARD', @ZSET_KEYS@)
  return type(sets) == 'table' and string.find(sets.err or '', '^WRONGTYPE') ~= nil
end
