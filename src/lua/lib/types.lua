-- The keys of a queue that have fixed names, and their types, from ../../protocol/definition/keys.lua. A command on a
-- key of another type fails, which may be behind others that have written. `events` is not among them: what writes
-- there cannot fail (tell in lib/event.lua).
--
-- gives: has_wrong_type, wrong_type, wrong_type_of

local KEY_TYPES = @KEY_TYPES@
-- What is wrong with a key, as an error of Redis's, or nil.
local function wrong_type_of(P, name, expected)
  local found = redis.pcall('TYPE', P .. name).ok
  if found and found ~= 'none' and found ~= expected then
    return 'WRONGTYPE reeve expects a ' .. expected .. ' at ' .. P .. name .. ', which is a ' .. found
  end
end

-- What is wrong with one of these keys.
local function wrong_type(P)
  for expected, names in pairs(KEY_TYPES) do
    for name in string.gmatch(names, '%S+') do
      local words = wrong_type_of(P, name, expected)
      if words then return words end
    end
  end
end

-- Whether a key has the wrong type, as far as two commands tell: one finds texts at all keys, one finds what is no set
-- of either kind at the keys of sorted sets (it looks at no member, as there is nothing at the prefix itself). Another
-- wrong type is found by the command that meets it (docs/limits.md). id: its keys are looked at, too.
local function has_wrong_type(P, id)
  local info, parents = P .. 'info:' .. (id or ''), P .. 'parents:' .. (id or '')
  local texts = redis.pcall('MGET', info, parents, @OTHER_KEYS@)
  for i = 1, #texts do
    if texts[i] then return true end
  end
  local sets = redis.pcall('ZINTERCARD', @ZSET_KEYS@)
  return type(sets) == 'table' and string.find(sets.err or '', '^WRONGTYPE') ~= nil
end
