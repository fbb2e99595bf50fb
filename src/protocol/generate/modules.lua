-- Puts a script of src/lua together from modules, the files of src/lua/lib. A module declares in the comment at its head
--
--   -- requires: base, order      the modules whose names it uses
--   -- gives: lock, links.cut     the names that it defines for others; "links.cut": a field of a table that is given
--   -- replaces: call             names that other modules give and this one sets anew
--   -- fields: is_read, lanes     fields of tables that scripts make for themselves, whose names are shortened in what is
--                                 sent (shorten.lua): none that JSON or Redis fills
--
-- A line "-- require: lock, order" in a script, or in a function of a module, stands for the modules that it names, behind those
-- that they require. A module is put in once: where the block in which it was put in has not ended, it is there already.
-- What does not fit is refused: see the calls of fail.
local inline = require('inline')
local names = require('lua_names')

local KNOWN = {}
for name in ('KEYS ARGV redis cjson string math table ipairs pairs next tonumber tostring type unpack select pcall error'):gmatch(
  '%S+') do
  KNOWN[name] = true
end

local function fail(path, line, ...)
  error({words = path .. ':' .. (line and line .. ': ' or ' ') .. table.concat({...})}, 0)
end

local function read(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then file:close() end
  return text
end

local function add_words(list, set, words)
  for word in words:gmatch('[^%s,]+') do list[#list + 1], set[word] = word, true end
end

-- A script, or a module. needs: the modules whose names it may use.
local function unit_of(path, name, is_module)
  local text = read(path)
  if not text then return nil end
  local unit = {path = path, name = name, is_module = is_module, text = text, requires = {}, gives = {}, needs = {},
    gives_list = {}, replaces = {}, used = {}, fields = {}}
  local head = text:match('^%-%-[^\n]*\n') and text:match('^(.-\n)[^-\n]') or ''
  for word, list in head:gmatch('%-%- (%l+): ([%w_., ]+)\n') do
    if word == 'requires' then add_words(unit.requires, unit.needs, list) end
    if word == 'gives' then add_words(unit.gives_list, unit.gives, list) end
    if word == 'replaces' then add_words({}, unit.replaces, list) end
    if word == 'fields' then add_words({}, unit.fields, list) end
  end
  return unit
end

local function check_gives(unit)
  local found, fault = names.names_of(unit.text, unit.path)
  if not found then fail(unit.path, nil, fault) end
  unit.tops, unit.sets = {}, {}
  for _, known in ipairs(found.declared) do
    if known.top then unit.tops[known.name] = known.line end
  end
  for _, field in ipairs(found.fields) do
    if field.is_set then unit.sets[field.use.name .. '.' .. field.field] = true end
  end
  if not next(unit.gives) and not next(unit.replaces) then fail(unit.path, nil, 'the module does not say what it gives') end
  for _, name in ipairs(unit.gives_list) do
    if not unit.tops[name] and not unit.sets[name] then fail(unit.path, nil, 'gives ', name, ', but does not define it') end
  end
end

local Assembly = {}
Assembly.__index = Assembly

function Assembly:module(name, by, line)
  if not self.modules[name] then
    local unit = unit_of(self.dir .. '/lib/' .. name .. '.lua', name, true)
    if not unit then fail(by.path, line, 'requires ', name, ', and there is no such module in lib') end
    check_gives(unit)
    self.modules[name] = unit
  end
  return self.modules[name]
end

function Assembly:emit(unit, text, line)
  for part in text:gmatch('[^\n]*\n') do
    self.lines[#self.lines + 1], self.owners[#self.owners + 1] = part, {unit = unit, line = line}
    line = line + 1
  end
end

-- Two modules in one block must not define the same name. In a block within, a module may: those there that mean the other
-- name would use a module that they do not require.
function Assembly:check_clash(unit)
  for _, other in pairs(self.modules) do
    for name, line in pairs(other ~= unit and other.block == unit.block and unit.tops or {}) do
      if other.tops[name] then
        fail(unit.path, line, 'defines ', name, ', as does ', other.path, ', which ', self.script.name, ' has, too')
      end
    end
  end
end

function Assembly:put_in(name, by, line)
  local unit = self:module(name, by, line)
  if unit.block and unit.block.is_open then return end
  if unit.block then
    fail(by.path, line, 'requires ', name, ', which ', self.script.name, ' has in a block that has ended: require it before both')
  end
  if unit.is_awaited then fail(by.path, line, 'requires ', name, ', which requires it, in a circle') end
  unit.is_awaited = true
  for _, needed in ipairs(unit.requires) do self:put_in(needed, unit) end
  unit.is_awaited, unit.block = false, self.block
  self:check_clash(unit)
  self:assemble(unit)
end

function Assembly:open() self.block = {outer = self.block, is_open = true} end
function Assembly:close()
  self.block.is_open = false
  self.block = self.block.outer
end

local OPENS = {['function'] = true, ['do'] = true, ['if'] = true, ['repeat'] = true}
local CLOSES = {['end'] = true, ['until'] = true}

function Assembly:assemble(unit)
  local text, from, from_line = unit.text, 1, 1
  names.each_token(text, function(kind, token, line, first, last)
    if kind == 'keyword' and OPENS[token] then
      self:open()
    elseif kind == 'keyword' and CLOSES[token] then
      self:close()
    elseif kind == 'keyword' and (token == 'else' or token == 'elseif') then
      self:close()
      self:open()
    end
    local wanted = kind == 'comment' and token:match('^%-%- require: ([%w_, ]+)$')
    if not wanted then return end
    self:emit(unit, (text:sub(from, first - 1):gsub(' *$', '')), from_line)
    for name in wanted:gmatch('[%w_]+') do
      unit.needs[name] = true
      self:put_in(name, unit, line)
    end
    from, from_line = last + 2, line + 1
  end)
  self:emit(unit, text:sub(from), from_line)
end

function Assembly:where(line)
  local owner = self.owners[line]
  return owner.unit, owner.line
end

-- A name, or a field, that another unit defines.
function Assembly:check_use(unit, line, name, giver, is_set)
  if giver == unit then return end
  if not giver.is_module then fail(unit.path, line, 'uses ', name, ', a local name of the script ', giver.name) end
  if not unit.needs[giver.name] then fail(unit.path, line, 'uses ', name, ' of the module ', giver.name, ', which it does not require') end
  if not giver.gives[name] then fail(unit.path, line, 'uses ', name, ', which the module ', giver.name, ' does not give') end
  if is_set and not unit.replaces[name] then fail(unit.path, line, 'sets ', name, ' of the module ', giver.name) end
  unit.used[giver.name] = true
end

function Assembly:check_names(found)
  for _, use in ipairs(found.uses) do
    local unit, line = self:where(use.line)
    local giver = use.declared and self:where(use.declared.line)
    -- A module may give a name of Lua's own as a local one, which is faster.
    local is_lua = KNOWN[use.name] and not use.is_set and (not giver or giver.gives[use.name])
    if use.declared and not is_lua then
      self:check_use(unit, line, use.name, giver, use.is_set)
    elseif not is_lua then
      fail(unit.path, line, 'uses ', use.name, ', which is neither local nor given by a module that it requires')
    end
  end
end

function Assembly:check_fields(found)
  local givers = {}
  for _, unit in pairs(self.modules) do
    for name in pairs(unit.gives) do
      if name:find('.', 1, true) and unit.block then givers[name] = unit end
    end
  end
  for _, field in ipairs(found.fields) do
    local name = field.use.name .. '.' .. field.field
    local unit, line = self:where(field.line)
    local owner = field.use.declared and self:where(field.use.declared.line)
    local is_own = owner == unit or unit.sets and unit.sets[name]
    if owner and owner.is_module and owner.gives[field.use.name] and (givers[name] or not is_own) then
      if not givers[name] then fail(unit.path, line, 'uses ', name, ', which no module of the script ', self.script.name, ' gives') end
      self:check_use(unit, line, name, givers[name])
    end
  end
end

function Assembly:check_needs()
  for _, unit in pairs(self.modules) do
    for _, name in ipairs(unit.requires) do
      if unit.block and not unit.used[name] then fail(unit.path, nil, 'requires ', name, ', of which it uses nothing') end
    end
  end
end

-- The fields that its modules declare.
function Assembly:declared_fields()
  local fields = {}
  for _, unit in pairs(self.modules) do
    for name in pairs(unit.block and unit.fields or {}) do fields[name] = true end
  end
  return fields
end

-- Returns the text, with its steps expanded (inline.lua), and the fields that may be shortened.
local function assemble(path)
  local dir, name = path:match('^(.*)/([%w_]+)%.lua$')
  if not dir then fail(path, nil, 'a script is a file DIRECTORY/NAME.lua') end
  local script = unit_of(path, name, false)
  if not script then fail(path, nil, 'cannot be read') end
  local self = setmetatable({dir = dir, script = script, modules = {}, lines = {}, owners = {}}, Assembly)
  self:open()
  self:assemble(script)
  local text = table.concat(self.lines)
  local found, fault = names.names_of(text, path)
  if not found then fail(path, nil, fault) end
  self:check_names(found)
  self:check_fields(found)
  self:check_needs()
  return (inline.expand(text, self.owners, path)), self:declared_fields()
end

return {assemble = assemble}
