-- Shortens the names of local variables, and of fields that modules declare (modules.lua), in what is sent to Redis, which keeps
-- the text of each script. The installed file keeps the names. Names in an error of Redis's are the short ones; its numbers of
-- lines are those of the installed file.
local merge = require('merge')
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

-- The tokens of a text that name a field: behind a point, but of a table of Lua's or Redis's; or the name of a value in a table.
local function fields_of(found)
  local variable, list = {}, {}
  for _, known in ipairs(found.declared) do variable[known.token or 0] = known end
  for _, use in ipairs(found.uses) do variable[use.token] = use.declared or false end
  for i = 2, #found.tokens - 1 do
    local token, before, after = found.tokens[i], found.tokens[i - 1], found.tokens[i + 1]
    if token.kind == 'name' and (before.text == '.' or before.text == ':') then
      if variable[i - 2] ~= false then list[#list + 1] = i end
    elseif token.kind == 'name' and variable[i] == nil and after.text == '=' then
      list[#list + 1] = i
    end
  end
  return list
end

-- Notes the new names of the declared fields, the most frequent first, in becomes. A field that is also a text of the script keeps
-- its name: it may be read by that text. fields: name -> true.
local function shorten_fields(found, fields, becomes)
  local taken, texts, counts, order, at_name = {}, {}, {}, {}, {}
  for word in pairs(names.KEYWORDS) do taken[word] = true end
  for _, i in ipairs(fields_of(found)) do
    local name = found.tokens[i].text
    taken[name], at_name[name] = true, at_name[name] or {}
    table.insert(at_name[name], i)
  end
  for _, token in ipairs(found.tokens) do
    local word = token.kind == 'string' and token.text:sub(2, -2)
    if word then taken[word], texts[word] = true, true end
  end
  for name in pairs(fields) do
    counts[name] = not texts[name] and at_name[name] and #at_name[name]
    if counts[name] then order[#order + 1] = name end
  end
  table.sort(order, function(a, b) return counts[a] > counts[b] or counts[a] == counts[b] and a < b end)
  local next_name = short_names(taken)
  for _, name in ipairs(order) do
    local short = next_name()
    for _, i in ipairs(at_name[name]) do becomes[i] = short end
  end
end

-- For each token of a text that is to be named otherwise, or to go (merge.lua): its new text. Comments are no tokens.
local function shortened(text, path, fields)
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
  shorten_fields(found, fields, becomes)
  merge.merge_locals(found, becomes)
  return becomes
end

-- A number as a power of two, where that is shorter.
local function shorter_number(text)
  local number = text:find('^%d+$') and tonumber(text)
  for power = 17, number and #text > 5 and 63 or 0 do
    if number == 2 ^ power then return '2^' .. power end
    if number == 2 ^ power - 1 and power <= 53 then return '(2^' .. power .. '-1)' end
  end
  return text
end

return {shortened = shortened, shorter_number = shorter_number}
