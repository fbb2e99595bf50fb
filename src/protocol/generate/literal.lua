-- Writes small constants out where a script uses them: a local name in capitals whose value is a whole number of at most four
-- digits, and which nothing assigns. So a place in a reply of Redis's can have a name, settings[IN_FORCE], that costs nothing and
-- that no function has to capture.
local names = require('lua_names')

-- The declarations of constants: known -> the number.
local function constants_of(found)
  local values, known_at = {}, {}
  for _, known in ipairs(found.declared) do known_at[known.token or 0] = known end
  for _, statement in ipairs(found.statements) do
    local at, list, tokens = statement.first + 1, {}, found.tokens
    while statement.kind == 'local' and known_at[at] do
      list[#list + 1] = known_at[at]
      at = at + 2
      if tokens[at - 1].text ~= ',' then break end
    end
    -- Behind "=": as many numbers as there are names.
    local is_all = #list > 0 and statement.last == at + 2 * (#list - 1)
    for i, known in ipairs(is_all and list or {}) do
      local token = tokens[at + 2 * (i - 1)]
      if known.name:find('^%u[%u%d_]*$') and token.text:find('^%d%d?%d?%d?$') then values[known] = token.text end
    end
  end
  for _, use in ipairs(found.uses) do
    if use.is_set and use.declared then values[use.declared] = nil end
  end
  return values
end

-- The text with its constants written out; the declarations, which nothing uses any more, stay.
local function write_out(text, path)
  local found, fault = names.names_of(text, path)
  if not found then error({words = fault}, 0) end
  local values, parts, at, tokens = constants_of(found), {}, 1, found.tokens
  for _, use in ipairs(found.uses) do
    local value = values[use.declared]
    if value then
      local token = tokens[use.token]
      parts[#parts + 1] = text:sub(at, token.from - 1)
      -- "5.." would be a number.
      parts[#parts + 1] = text:sub(token.to + 1, token.to + 1) == '.' and value .. ' ' or value
      at = token.to + 1
    end
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts)
end

return {write_out = write_out}
