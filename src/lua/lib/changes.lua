-- Arguments that are changes, a name and a value each: what scripts that change settings look at before anything else.
--
-- requires: base, expect
-- gives: refused_changes

local function fault_of(given, first, what, is_change)
  if (#given - first) % 2 == 0 then return 'for each change it takes a name and a value' end
  for i = first, #given, 2 do
    if not is_change(given[i], given[i + 1]) then
      return 'there is no such ' .. what .. ', or no such value of it: ' .. sub(given[i], 1, 100)
    end
  end
end

-- given: ARGV, whose changes begin at `first`; what: the word for a thing that is changed. Returns the error that the
-- script is to return, or nil.
local function refused_changes(P, given, first, what, is_change)
  local fault = fault_of(given, first, what, is_change)
  if fault then return redis.error_reply('ERR @NAME@: ' .. fault) end
  return unfit(P)
end
