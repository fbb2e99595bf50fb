-- Findings about keys as such: their types, and keys of tasks that do not exist. lib/check_states.lua says what a
-- finding is.
--
-- requires: base
-- gives: FAMILIES, KEY_TYPES, family_of, find_key_type, find_key_without_task

-- The types of keys with fixed names, and of those with a name behind a colon.
local KEY_TYPES, FAMILIES = @KEY_TYPES@, @FAMILY_TYPES@

-- The part of a key's name before its colon, and what follows; nil for a fixed name.
local function family_of(name)
  local family, rest = match(name, '^([%a_]+):(.*)$')
  if family ~= 'cron' then return family, rest end
end

local function expected_type(name)
  local family = family_of(name)
  if family then return FAMILIES[family] end
  for kind, names in pairs(KEY_TYPES) do
    if find(' ' .. names .. ' ', ' ' .. name .. ' ', 1, true) then return kind end
  end
end

-- key_type: a key has another type. fanout:<n> has two types (lib/retention.lua).
local function find_key_type(P, name)
  local expected, found = expected_type(name), redis.pcall('TYPE', P .. name).ok
  if not expected or found == 'none' or found == expected or sub(name, 1, 7) == 'fanout:' then return end
  return found .. ', not ' .. expected
end

-- key_without_task: info:<id> and the like, and no such task exists.
local function find_key_without_task(P, name)
  local family, id = family_of(name)
  if not family or call('EXISTS', P .. name) == 0 then return end
  return call('HEXISTS', P .. 'tasks', id) == 0 and '' or nil
end
