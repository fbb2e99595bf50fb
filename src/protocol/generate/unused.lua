-- Leaves out what a script does not use of its modules: local functions, also those that are declared before they are defined;
-- functions that are fields of a module's table; and local names whose values are constants, names, fields of names, or tables of these.
-- Something is used when a statement uses it, or a function that is used; a name that is assigned anywhere else stays.
local lines = require('lua_lines')
local names = require('lua_names')

-- What a value may consist of that calls nothing.
local PLAIN = {}
for text in ('nil true false { } [ ] . , ='):gmatch('%S+') do PLAIN[text] = true end

-- ---- what could be left out ------------------------------------------------------------------------------------------

-- Each thing: {known, first, last}: a name and the tokens of its value. A function that is a field has `field`, and `base`, the
-- token of the table; one that was declared before has `base`, too.
local function functions_of(found, use_at, things)
  for _, made in ipairs(found.functions) do
    local first = made.opens
    while found.tokens[first].text ~= 'function' do first = first - 1 end
    if made.known then
      things[#things + 1] = {known = made.known, first = first - 1, last = made.ends}
    elseif made.name:find('^[%w_]+%.[%w_]+$') then
      things[#things + 1] = {field = made.name:match('%.(.*)$'), base = first + 1, first = first, last = made.ends}
    elseif made.name:find('^[%w_]+$') and use_at[first + 1] and use_at[first + 1].declared then
      things[#things + 1] = {known = use_at[first + 1].declared, base = first + 1, first = first, last = made.ends}
    end
  end
end

-- `local a, b = x, y.z`: {names, values: {first, last} tokens of each}; `local a, b`: no values; nil where a value is anything
-- else.
local function pairs_of(found, statement, known_at)
  local tokens, at, pair = found.tokens, statement.first + 1, {names = {}, values = {}, statement = statement}
  if tokens[at].text == 'function' then return nil end
  while true do
    pair.names[#pair.names + 1] = {known = known_at[at], token = at}
    at = at + 1
    if tokens[at].text ~= ',' or at > statement.last then break end
    at = at + 1
  end
  if at > statement.last then return pair end
  if tokens[at].text ~= '=' then return nil end
  local first, depth = at + 1, 0
  for i = first, statement.last + 1 do
    local token = tokens[i]
    local text = token.kind ~= 'string' and token.text or ''
    if i > statement.last or depth == 0 and text == ',' then
      pair.values[#pair.values + 1] = {first, i - 1}
      first = i + 1
    elseif not (token.kind == 'number' or token.kind == 'string' or token.kind == 'name' or PLAIN[text]) then
      return nil
    elseif (token.kind == 'string' or text == '{') and tokens[i - 1].kind == 'name' then
      return nil
    end
    if text == '{' then depth = depth + 1 end
    if text == '}' then depth = depth - 1 end
  end
  return #pair.names == #pair.values and pair or nil
end

-- ---- what is used ----------------------------------------------------------------------------------------------------

local Search = {}
Search.__index = Search

-- Notes for each token the innermost thing in which it stands; a token of none runs in any case.
function Search:note_tokens()
  table.sort(self.things, function(a, b) return a.first < b.first or a.first == b.first and a.last > b.last end)
  self.around = {}
  for _, thing in ipairs(self.things) do
    thing.parent = self.around[thing.first]
    for token = thing.first, thing.last do self.around[token] = thing end
  end
end

function Search:use(thing)
  if thing.is_used then return end
  thing.is_used = true
  for _, inside in ipairs(thing.inside or {}) do self:use(inside) end
end

-- A use in a thing counts once that is used.
function Search:note(thing, token)
  local around = self.around[token]
  if around == thing then return end
  if not around then return self:use(thing) end
  around.inside = around.inside or {}
  table.insert(around.inside, thing)
  if around.is_used then self:use(thing) end
end

-- A table's field, or its name by itself: then all of its fields are used.
function Search:note_field(use)
  local tokens = self.found.tokens
  local by_name = tokens[use.token + 1].text == '.' and tokens[use.token + 1].kind == 'symbol'
  for _, thing in ipairs(self.fields[use.declared] or {}) do
    if not by_name or tokens[use.token + 2].text == thing.field and use.token ~= thing.base then self:note(thing, use.token) end
  end
end

local function search(found)
  local self = setmetatable({found = found, things = {}, fields = {}, pairs = {}}, Search)
  local known_at, thing_of, use_at = {}, {}, {}
  for _, known in ipairs(found.declared) do known_at[known.token or 0] = known end
  for _, use in ipairs(found.uses) do use_at[use.token] = use end
  functions_of(found, use_at, self.things)
  for _, statement in ipairs(found.statements) do
    local pair = statement.kind == 'local' and pairs_of(found, statement, known_at)
    if pair then
      self.pairs[#self.pairs + 1] = pair
      for i, name in ipairs(pair.values[1] and pair.names or {}) do
        name.thing = {known = name.known, first = pair.values[i][1], last = pair.values[i][2]}
        self.things[#self.things + 1] = name.thing
      end
    end
  end
  self:note_tokens()
  for _, thing in ipairs(self.things) do
    if thing.known then
      -- One that is defined twice stays.
      if thing_of[thing.known] then self:use(thing) end
      if thing_of[thing.known] then self:use(thing_of[thing.known]) end
      thing_of[thing.known] = thing
    else
      local known = use_at[thing.base].declared
      self.fields[known or 0] = self.fields[known or 0] or {}
      table.insert(self.fields[known or 0], thing)
      -- A global table, or one whose value is not plain.
      if not known then self:use(thing) end
    end
  end
  for _, use in ipairs(found.uses) do
    local thing = thing_of[use.declared]
    if thing and use.token ~= thing.base then self:note(thing, use.token) end
    if use.declared and self.fields[use.declared] then self:note_field(use) end
  end
  -- A name that is declared before its function; without a function it stays.
  for _, pair in ipairs(self.pairs) do
    for _, name in ipairs(pair.names) do name.thing = name.thing or thing_of[name.known] or {is_used = true} end
  end
  return self
end

-- ---- leaving it out --------------------------------------------------------------------------------------------------

-- The characters of a statement, with the comment above it when it stands on lines of its own.
local function lines_around(text, from, to)
  local first, last = lines.start_of(text, from), (text:find('\n', to + 1, true))
  local behind = last and text:sub(to + 1, last - 1) or 'none'
  if text:sub(first, from - 1):find('%S') or not (behind:find('^ *;? *$') or behind:find('^ *%-%-')) then return from, to end
  return lines.above_comment(text, first), last
end

-- The text without what is not used.
local function leave_out(text, path)
  local found, fault = names.names_of(text, path)
  if not found then error({words = fault}, 0) end
  local self, tokens, edits = search(found), found.tokens, {}
  local function remove(first, last)
    local from, to = lines_around(text, tokens[first].from, tokens[last].to)
    edits[#edits + 1] = {from, to, ''}
  end
  for _, thing in ipairs(self.things) do
    local is_function = thing.base or tokens[thing.first].text == 'local'
    if not thing.is_used and is_function and (not thing.parent or thing.parent.is_used) then
      remove(thing.first, thing.last)
    end
  end
  for _, pair in ipairs(self.pairs) do
    local kept, values = {}, {}
    for i, name in ipairs(pair.names) do
      if name.thing.is_used then
        kept[#kept + 1] = name.known.name
        local value = pair.values[i]
        if value then values[#values + 1] = text:sub(tokens[value[1]].from, tokens[value[2]].to) end
      end
    end
    local around = self.around[pair.statement.first]
    if #kept < #pair.names and (not around or around.is_used) then
      if #kept == 0 then
        remove(pair.statement.first, pair.statement.last)
      else
        edits[#edits + 1] = {tokens[pair.statement.first].from, tokens[pair.statement.last].to,
          'local ' .. table.concat(kept, ', ') .. (values[1] and ' = ' .. table.concat(values, ', ') or '')}
      end
    end
  end
  table.sort(edits, function(a, b) return a[1] < b[1] end)
  local parts, at = {}, 1
  for _, edit in ipairs(edits) do
    parts[#parts + 1] = text:sub(at, edit[1] - 1)
    parts[#parts + 1] = edit[3]
    at = edit[2] + 1
  end
  parts[#parts + 1] = text:sub(at)
  return table.concat(parts), #edits
end

return {leave_out = leave_out}
