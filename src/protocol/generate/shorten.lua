-- Shortens the names of local variables in what is sent to Redis, which keeps the text of each script. The installed file keeps
-- the names. Names in an error of Redis's are the short ones; its numbers of lines are those of the installed file.
local names = require('lua_names')

local FIRST = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'
local OTHERS = FIRST .. '0123456789_'

-- Returns a function that returns the next name at each call, short ones first, without those that are taken.
local function short_names(taken)
  local at = 0
  return function()
    local name
    repeat
      local rest = math.floor(at / #FIRST)
      name = FIRST:sub(at % #FIRST + 1, at % #FIRST + 1)
      while rest > 0 do
        rest = rest - 1
        name = name .. OTHERS:sub(rest % #OTHERS + 1, rest % #OTHERS + 1)
        rest = math.floor(rest / #OTHERS)
      end
      at = at + 1
    until not taken[name]
    return name
  end
end

-- The numbers of declarations, those that stand in the text most often first.
local function by_frequency(numbers)
  local counts, order = {}, {}
  for _, number in pairs(numbers) do
    if not counts[number] then order[#order + 1] = number end
    counts[number] = (counts[number] or 0) + 1
  end
  table.sort(order, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
  return order
end

-- For each token of a text that is to be named otherwise: its new name. Comments are no tokens. A variable is named after its
-- number among those that are known where it is declared, so that no other one that is known meanwhile has its name.
local function shortened(text, path)
  local found, fault = names.names_of(text, path)
  if not found then error({words = fault}, 0) end
  local taken, numbers, name_of, becomes = {}, {}, {}, {}
  for word in pairs(names.KEYWORDS) do taken[word] = true end
  for _, known in ipairs(found.declared) do
    if not known.token then error({words = path .. ': a method has no name for itself that could be shortened'}, 0) end
    numbers[known.token] = known.number
  end
  for _, use in ipairs(found.uses) do
    if use.declared then numbers[use.token] = use.declared.number else taken[use.name] = true end
  end
  local next_name = short_names(taken)
  for _, number in ipairs(by_frequency(numbers)) do name_of[number] = next_name() end
  for token, number in pairs(numbers) do becomes[token] = name_of[number] end
  return becomes
end

return {shortened = shortened}
