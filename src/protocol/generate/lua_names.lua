-- The names in a Lua 5.1 text: which it declares, which it uses and where each of these was declared, and its functions.
-- A reader of Lua's grammar that keeps the scopes and builds no tree.
local UNARY = {['not'] = true, ['-'] = true, ['#'] = true}
local BINARY = {}
for word in ('+ - * / % ^ .. < > <= >= == ~= and or'):gmatch('%S+') do BINARY[word] = true end
local KEYWORDS = {}
for word in ('and break do else elseif end false for function if in local nil not or repeat return then true until while'):gmatch(
  '%a+') do
  KEYWORDS[word] = true
end

-- Calls visit(kind, text, line, from, to) for each token and comment; kind: name, keyword, number (also
-- @CONSTANT@), string, symbol, comment.
local function each_token(source, visit)
  local at, line = 1, 1
  while at <= #source do
    local first, kind = at, nil
    local long = source:match('^%-?%-?%[(=*)%[', at)
    local char = source:sub(at, at)
    if source:find('^%s', at) then
      at = source:find('%S', at) or #source + 1
    elseif source:find('^%-%-', at) or (long and char == '[') then
      kind = char == '[' and 'string' or 'comment'
      if long and (char == '[' or source:find('^%-%-%[', at)) then
        local _, last = source:find(']' .. long .. ']', at, true)
        at = (last or #source) + 1
      else
        at = source:find('\n', at, true) or #source + 1
      end
    elseif char == '"' or char == "'" then
      kind, at = 'string', at + 1
      while at <= #source and source:sub(at, at) ~= char do at = at + (source:sub(at, at) == '\\' and 2 or 1) end
      at = at + 1
    elseif source:find('^[%a_]', at) then
      at = source:find('[^%w_]', at) or #source + 1
      kind = KEYWORDS[source:sub(first, at - 1)] and 'keyword' or 'name'
    elseif source:find('^%.?%d', at) then
      kind, at = 'number', select(2, source:find('^[%w.]+', at)) + 1
      if source:find('^[eE][+-]%d', at - 1) then
        at = select(2, source:find('^[+-]%d+', at)) + 1
      end
    elseif source:find('^@[%u_]+@', at) then
      kind, at = 'number', source:find('@', at + 1, true) + 1
    else
      kind = 'symbol'
      at = at + #(source:match('^%.%.%.', at) or source:match('^%.%.', at) or source:match('^[=~<>]=', at) or char)
    end
    local text = source:sub(first, at - 1)
    if kind then visit(kind, text, line, first, at - 1) end
    line = line + select(2, text:gsub('\n', ''))
  end
end

local Reader = {}
Reader.__index = Reader

local function reader_of(source, path, once)
  local self = setmetatable({tokens = {}, at = 1, path = path, uses = {}, declared = {}, functions = {}, fields = {},
    statements = {}, loops = 0, once = once or {}}, Reader)
  each_token(source, function(kind, text, line, from, to)
    if kind ~= 'comment' then
      self.tokens[#self.tokens + 1] = {kind = kind, text = text, line = line, from = from, to = to}
    elseif self.tokens[1] and self.tokens[#self.tokens].line == line then
      self.tokens[#self.tokens].remark = text
    end
  end)
  self.tokens[#self.tokens + 1] = {kind = 'end of text', text = '', line = self.tokens[1] and self.tokens[#self.tokens].line or 1,
    from = #source + 1, to = #source}
  return self
end

function Reader:peek() return self.tokens[self.at].text, self.tokens[self.at].kind end
function Reader:line() return self.tokens[self.at].line end
function Reader:is(text)
  local token = self.tokens[self.at]
  return token.text == text and token.kind ~= 'string'
end
function Reader:next()
  self.at = self.at + 1
  return self.tokens[self.at - 1].text
end
function Reader:fault(words)
  error({words = ('%s:%d: %s near "%s"'):format(self.path, self:line(), words, self.tokens[self.at].text)})
end
function Reader:take(text)
  if not self:is(text) then self:fault('"' .. text .. '" is missing') end
  return self:next()
end
function Reader:maybe(text) return self:is(text) and self:next() end
function Reader:name()
  if self.tokens[self.at].kind ~= 'name' then self:fault('a name is missing') end
  return self:next()
end

function Reader:open(owner)
  local outer = self.scope
  self.scope = {outer = outer, names = {}, owner = owner or outer.owner}
end
function Reader:close()
  self.scope.last = self.at - 1
  self.scope = self.scope.outer
end
-- token: where the name stands; of a method's `self`: nowhere.
function Reader:declare(name, line, token)
  local scope = self.scope
  local known = {name = name, line = line, token = token, owner = scope.owner, scope = scope, top = not scope.outer.outer,
    from = self.at}
  scope.names[name] = known
  self.declared[#self.declared + 1] = known
  return known
end

-- The names that are known here: name -> the declaration that it means.
function Reader:visible()
  local names, scope = {}, self.scope
  while scope do
    for name, known in pairs(scope.names) do names[name] = names[name] or known end
    scope = scope.outer
  end
  return names
end

function Reader:use(name, line, is_set)
  local scope = self.scope
  while scope and not scope.names[name] do scope = scope.outer end
  local known = scope and scope.names[name]
  local owner = self.scope.owner
  while known and owner ~= known.owner do
    if not owner.captured[known] then owner.captured[known], owner.captures = true, owner.captures + 1 end
    owner = owner.outer
  end
  local use = {name = name, line = line, token = self.at - 1, declared = known, is_set = is_set, owner = self.scope.owner}
  self.uses[#self.uses + 1] = use
  if known and known.is_inline then use.visible = self:visible() end
  return use
end

-- Behind `function` and its name. known: the declaration of a local function.
function Reader:body(name, first, is_method, known)
  local owner = {name = name, first = first, captured = {}, captures = 0, outer = self.scope.owner, known = known,
    parameters = {}}
  self.functions[#self.functions + 1] = owner
  self:open(owner)
  owner.scope = self.scope
  if is_method then self:declare('self', first) end
  self:take('(')
  while not self:maybe(')') do
    if self:maybe('...') then
      owner.has_dots = true
    else
      local parameter = self:name()
      owner.parameters[#owner.parameters + 1] = self:declare(parameter, self:line(), self.at - 1)
    end
    self:maybe(',')
  end
  owner.opens = self.at - 1
  local remark = self.tokens[owner.opens].remark
  if known and remark then
    known.is_function = remark == '-- inline, else a function'
    known.is_inline = known.is_function or remark == '-- inline'
  end
  if known and self.once[known.token] then known.is_inline, known.is_once = true, true end
  local loops = self.loops
  self.loops = 0
  self:block()
  self.loops, owner.last, owner.ends = loops, self:line(), self.at
  self:take('end')
  self:close()
end

function Reader:list()
  repeat self:expression() until not self:maybe(',')
end

function Reader:table()
  self:take('{')
  while not self:maybe('}') do
    local after = self.tokens[self.at + 1]
    if self:maybe('[') then
      self:expression()
      self:take(']')
      self:take('=')
    elseif self.tokens[self.at].kind == 'name' and after.text == '=' then
      self:next()
      self:take('=')
    end
    self:expression()
    if not self:maybe(',') then self:maybe(';') end
  end
end

-- A variable, a call, or what follows one. Returns the last name that was used by itself, and the field that was taken of it.
function Reader:primary()
  local line, used, field = self:line(), nil, nil
  if self:maybe('(') then
    self:expression()
    self:take(')')
  else
    used = self:use(self:name(), line)
  end
  local kind = 'name'
  while true do
    local text, what = self:peek()
    if what == 'string' then
      self:next()
      kind = 'call'
    elseif text == '.' or text == ':' then
      self:next()
      field = self:name()
      if kind == 'name' and used then self.fields[#self.fields + 1] = {use = used, field = field, line = line} end
      kind = 'field'
    elseif text == '[' then
      self:next()
      self:expression()
      self:take(']')
      kind = 'field'
    elseif text == '(' then
      self:next()
      if not self:is(')') then self:list() end
      self:take(')')
      kind = 'call'
    elseif text == '{' then
      self:table()
      kind = 'call'
    else
      return kind, used
    end
  end
end

function Reader:expression()
  local text, kind = self:peek()
  if UNARY[text] and kind ~= 'string' then
    self:next()
    self:expression()
  elseif kind == 'number' or kind == 'string' or text == 'nil' or text == 'true' or text == 'false' or text == '...' then
    self:next()
  elseif text == '{' then
    self:table()
  elseif text == 'function' then
    local first = self:line()
    self:next()
    self:body('a function without a name', first)
  else
    self:primary()
  end
  local operator, what = self:peek()
  if BINARY[operator] and what ~= 'string' then
    self:next()
    self:expression()
  end
end

-- Names of a statement `local`, which are known behind it.
function Reader:local_names()
  local names, line = {}, self:line()
  repeat names[#names + 1] = {self:name(), self.at - 1} until not self:maybe(',')
  if self:maybe('=') then self:list() end
  for _, name in ipairs(names) do self:declare(name[1], line, name[2]) end
end

local STATEMENTS = {}

STATEMENTS['local'] = function(self)
  if not self:maybe('function') then return self:local_names() end
  local line, name = self:line(), self:name()
  self:body(name, line, false, self:declare(name, line, self.at - 1))
end

STATEMENTS['function'] = function(self)
  local line, name = self:line(), self:name()
  local is_method, field = false, nil
  local used = self:use(name, line, not (self:is('.') or self:is(':')))
  while self:is('.') or self:is(':') do
    is_method = self:next() == ':'
    field = self:name()
    self.fields[#self.fields + 1] = {use = used, field = field, line = line, is_set = true}
  end
  self:body(field and name .. '.' .. field or name, line, is_method)
end

STATEMENTS['if'] = function(self)
  repeat
    self:expression()
    self:take('then')
    self:scoped_block()
  until not self:maybe('elseif')
  if self:maybe('else') then self:scoped_block() end
  self:take('end')
end

STATEMENTS['while'] = function(self)
  self.loops = self.loops + 1
  self:expression()
  self:take('do')
  self:scoped_block()
  self:take('end')
  self.loops = self.loops - 1
end

STATEMENTS['do'] = function(self)
  self:scoped_block()
  self:take('end')
end

STATEMENTS['for'] = function(self)
  local names, line = {}, self:line()
  repeat names[#names + 1] = {self:name(), self.at - 1} until not self:maybe(',')
  if not self:maybe('in') then self:take('=') end
  self:list()
  self:take('do')
  self:open()
  self.loops = self.loops + 1
  for _, name in ipairs(names) do self:declare(name[1], line, name[2]) end
  self:block()
  self.loops = self.loops - 1
  self:close()
  self:take('end')
end

STATEMENTS['repeat'] = function(self)
  self:open()
  self.loops = self.loops + 1
  self:block()
  self:take('until')
  self:expression()
  self.loops = self.loops - 1
  self:close()
end

STATEMENTS['return'] = function(self)
  local text = self:peek()
  if text ~= 'end' and text ~= 'else' and text ~= 'elseif' and text ~= 'until' and text ~= '' and text ~= ';' then self:list() end
end

STATEMENTS['break'] = function() end

function Reader:assignment()
  local targets = {}
  repeat
    local kind, used = self:primary()
    targets[#targets + 1] = {kind, used, #self.fields}
  until not self:maybe(',')
  if not self:maybe('=') then return false end
  for _, target in ipairs(targets) do
    if target[1] == 'name' then target[2].is_set = true end
    local field = self.fields[target[3]]
    if target[1] == 'field' and field and field.use == target[2] then field.is_set = true end
  end
  self:list()
  return true
end

function Reader:block()
  while true do
    local text, kind = self:peek()
    if kind == 'end of text' or kind == 'keyword' and (text == 'end' or text == 'else' or text == 'elseif' or text == 'until') then
      return
    end
    local statement = kind == 'keyword' and STATEMENTS[text]
    local record = {first = self.at, kind = statement and text or 'call', owner = self.scope.owner, loops = self.loops}
    self.statements[#self.statements + 1] = record
    if statement then
      self:next()
      statement(self)
    elseif self:assignment() then
      record.kind = 'set'
    end
    record.last = self.at - 1
    self:maybe(';')
  end
end

function Reader:scoped_block()
  self:open()
  self:block()
  self:close()
end

-- Of a text, as a script or a part of one; a token is a place in the list of them:
--   tokens      {kind, text, line, from, to, remark}: remark: the comment behind it on its line
--   declared    {name, line, token, owner, scope, top, from, is_inline, is_function} of each name that it declares; top: in no block
--               of it; from: the token from which on it is known, to that of scope.last
--   uses        {name, line, token, declared, is_set, owner}: declared: one of those above; nil: it is none of the text's own
--   fields      {use, field, line, is_set}: of a field that is named with a point behind one of the uses
--   functions   {name, first, last, captures, outer, scope, parameters, has_dots, opens, ends, known}: their lines; how many names of
--               the functions around them they share; the tokens ")" of the parameters and "end"; known: a local one's
--               declaration
--   statements  {kind, first, last, owner, loops}: kind: "local", "if", "return", ..., "set" or "call"; its tokens; the
--               function, and how many of its loops, in which it stands
-- Or nil and what is wrong. once: the tokens of names of local functions that are steps, though nothing says so (inline.lua).
local function names_of(source, path, once)
  local self = reader_of((source:gsub('^#!', '--')), path, once)
  self.scope = {names = {}}
  self:open({name = path, first = 1, captured = {}, captures = 0})
  local good, fault = pcall(function()
    self:block()
    if self.at < #self.tokens then self:fault('"end" has nothing to end') end
  end)
  if not good then return nil, type(fault) == 'table' and fault.words or fault end
  return self
end

return {names_of = names_of, each_token = each_token, KEYWORDS = KEYWORDS}
