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

-- Which declarations must not have one name: one of them is used while another one, which was declared later, is known too.
-- {known -> set of others}.
local function conflicts_of(found)
  local starts, conflicts, known_now = {}, {}, {}
  for _, known in ipairs(found.declared) do
    conflicts[known] = {}
    starts[known.from] = starts[known.from] or {}
    table.insert(starts[known.from], known)
  end
  local use_at = {}
  for _, use in ipairs(found.uses) do use_at[use.token] = use.declared end
  for token = 1, #found.tokens do
    while known_now[1] and (known_now[#known_now].scope.last or token) < token do known_now[#known_now] = nil end
    for _, known in ipairs(starts[token] or {}) do known_now[#known_now + 1] = known end
    local used = use_at[token]
    for i = #known_now, used and 1 or #known_now + 1, -1 do
      local known = known_now[i]
      if known == used then break end
      conflicts[known][used], conflicts[used][known] = true, true
    end
  end
  return conflicts
end

-- The declarations, those that stand in the text most often first.
local function by_frequency(found)
  local counts, place, order = {}, {}, {}
  for i, known in ipairs(found.declared) do counts[known], place[known], order[i] = 1, i, known end
  for _, use in ipairs(found.uses) do
    if use.declared then counts[use.declared] = counts[use.declared] + 1 end
  end
  table.sort(order, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and place[a] < place[b] end)
  return order
end

-- For each token of a text that is to be named otherwise: its new name. Comments are no tokens.
local function shortened(text, path)
  local found, fault = names.names_of(text, path)
  if not found then error({words = fault}, 0) end
  local taken, name_of, becomes, list = {}, {}, {}, {}
  for word in pairs(names.KEYWORDS) do taken[word] = true end
  for _, use in ipairs(found.uses) do
    if not use.declared then taken[use.name] = true end
  end
  local next_name, conflicts = short_names(taken), conflicts_of(found)
  for _, known in ipairs(by_frequency(found)) do
    if not known.token then error({words = path .. ': a method has no name for itself that could be shortened'}, 0) end
    local others, number = {}, 1
    for other in pairs(conflicts[known]) do others[name_of[other] or 0] = true end
    list[number] = list[number] or next_name()
    while others[list[number]] do
      number = number + 1
      list[number] = list[number] or next_name()
    end
    name_of[known], becomes[known.token] = list[number], list[number]
  end
  for _, use in ipairs(found.uses) do
    if use.declared then becomes[use.token] = name_of[use.declared] end
  end
  return becomes
end

return {shortened = shortened}
