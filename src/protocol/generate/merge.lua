-- Makes one statement of `local` statements that follow each other, in what is sent to Redis, which keeps the text of each
-- script: `local a=f()` and `local b=g()` become `local a,b=f(),g()`. All values stay on their lines, and Lua computes them in
-- the same order.

-- The names and values of `local a, b = x, y`; nil if it has not as many values as names.
local function parts_of(found, statement)
  local tokens, part = found.tokens, {first = statement.first, names = {}, last = statement.last}
  if statement.kind ~= 'local' or tokens[statement.first + 1].text == 'function' then return nil end
  local at, depth, values = statement.first + 1, 0, 1
  while tokens[at].text ~= '=' do
    if at > statement.last then return nil end
    if tokens[at].kind == 'name' then part.names[#part.names + 1] = at end
    at = at + 1
  end
  part.sign = at
  for i = at + 1, statement.last do
    local text = tokens[i].kind ~= 'string' and tokens[i].text or ''
    -- A function may have statements with commas of their own.
    if text == 'function' then return nil end
    if text:find('^[%({%[]$') then depth = depth + 1 end
    if text:find('^[%)}%]]$') then depth = depth - 1 end
    if text == ',' and depth == 0 then values = values + 1 end
  end
  return values == #part.names and part or nil
end

-- Whether the values of a statement use one of the names that statements from the token `first` on declare.
local function uses_names_since(part, first, use_at)
  for i = part.sign + 1, part.last do
    local known = use_at[i]
    if known and known.token and known.token >= first and known.token < part.first then return true end
  end
  return false
end

-- Changes `becomes`, the new names of tokens (shorten.lua), so that it makes the statements one: '' for a token that goes.
-- found: what lua_names.lua found in the text.
local function merge_locals(found, becomes)
  local use_at, before, first = {}, nil, nil
  for _, use in ipairs(found.uses) do use_at[use.token] = use.declared end
  table.sort(found.statements, function(a, b) return a.first < b.first end)
  for _, statement in ipairs(found.statements) do
    local part = parts_of(found, statement)
    if not part then
      if before and statement.first > before.last then before = nil end
    elseif before and part.first == before.last + 1 and not uses_names_since(part, first, use_at) then
      local last, added = before.names[#before.names], {}
      for i, at in ipairs(part.names) do added[i] = becomes[at] or found.tokens[at].text end
      becomes[last] = (becomes[last] or found.tokens[last].text) .. ',' .. table.concat(added, ',')
      for at = part.first, part.sign - 1 do becomes[at] = '' end
      becomes[part.sign] = ','
      before.last = part.last
    else
      before, first = part, part.first
    end
  end
end

return {merge_locals = merge_locals}
