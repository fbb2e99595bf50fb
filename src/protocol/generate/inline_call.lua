-- Expands the steps of a script (inline.lua): a call of a step, and the names that the step has at this call.
local Expansion = require('inline_step')

local CONSTANTS = {['nil'] = true, ['true'] = true, ['false'] = true}

local OPENS, CLOSES = {}, {}
for text in ('( { [ function if do repeat'):gmatch('%S+') do OPENS[text] = true end
for text in (') } ] end until'):gmatch('%S+') do CLOSES[text] = true end

-- The arguments between "(" and ")": {first, last} tokens of each.
function Expansion:arguments_of(open, close)
  local list, first, depth = {}, open + 1, 0
  if close == open + 1 then return list end
  for i = open + 1, close do
    local token = self.tokens[i]
    local text = token.kind ~= 'string' and token.text or ''
    if OPENS[text] then depth = depth + 1 end
    if depth == 0 and (text == ',' or i == close) then
      list[#list + 1] = {first, i - 1}
      first = i + 1
    end
    if CLOSES[text] then depth = depth - 1 end
  end
  return list
end

-- The call in which a step is used: the statement, the names that get its results, and its arguments.
function Expansion:call_of(use, step)
  local statement = self.starts[use.token]
  if not statement then
    for _, other in ipairs(self.found.statements) do
      if other.first <= use.token and other.last >= use.token and (not statement or other.first > statement.first) then
        statement = other
      end
    end
  end
  local call, tokens = {statement = statement, use = use, targets = {}}, self.tokens
  local at = statement.first + ((statement.kind == 'local' or statement.kind == 'return') and 1 or 0)
  while at < use.token and statement.kind ~= 'return' and tokens[at].kind == 'name' do
    call.targets[#call.targets + 1] = tokens[at].text
    at = at + 2
    if tokens[at - 1].text ~= ',' then break end
  end
  local open, depth, close = use.token + 1, 0, nil
  for i = open, statement.last do
    local text = tokens[i].kind ~= 'string' and tokens[i].text or ''
    if text == '(' then depth = depth + 1 end
    if text == ')' then depth = depth - 1 end
    if depth == 0 then
      close = i
      break
    end
  end
  local forms = {['local'] = true, set = true, call = true, ['return'] = true}
  if at ~= use.token or close ~= statement.last or tokens[open].text ~= '(' or close == open or not forms[statement.kind] then
    self:fail(use.line, step.name, ' is inline: a call of it must be a statement, or all that is assigned or returned')
  end
  call.arguments = self:arguments_of(open, close)
  if #call.arguments > #step.made.parameters then self:fail(use.line, step.name, ' is inline: it is given too many arguments') end
  local last_text = tokens[close - 1].text
  if #call.arguments < #step.made.parameters and (last_text == ')' or last_text == '...') then
    self:fail(use.line, step.name, ' is inline: it is given fewer arguments than it has, and the last one may be several')
  end
  if step.loop_line and statement.kind ~= 'return' then
    self:fail(step.loop_line, step.name, ' is inline: it must not return in a loop')
  end
  return call
end

-- What may replace a parameter: the text of a constant, or of a name that nothing else can change meanwhile.
function Expansion:replacement_of(argument, use)
  local token = self.tokens[argument[1]]
  if argument[1] ~= argument[2] then return nil end
  if token.kind == 'number' or token.kind == 'string' or CONSTANTS[token.text] then return token.text, true end
  local known = token.kind == 'name' and use.visible[token.text]
  return token.kind == 'name' and not (known and self.set_elsewhere[known]) and token.text or nil
end

local ELSEWHERE = {[')'] = true, ['and'] = true, ['or'] = true, ['do'] = true, ['then'] = true, ['repeat'] = true, ['while'] = true, [';'] = true}

-- The text of an argument that may stand in place of its parameter, although it is more than a name: the step uses it once, as a
-- whole argument of a call, and nothing is called or decided before. Where other arguments are more than names, too, it calls
-- nothing. Of several values it is the first one.
function Expansion:single_use(step, known, argument, others)
  local found, tokens = nil, self.tokens
  for _, use in ipairs(step.uses) do
    if use.declared == known then
      if found then return nil end
      found = use.token
    end
  end
  local text = self:text_of(argument[1], argument[2])
  if not found or text:find('\n', 1, true) or others > 0 and text:find('(', 1, true) then return nil end
  for i = step.first, found - 1 do
    if tokens[i].kind ~= 'string' and ELSEWHERE[tokens[i].text] then return nil end
    if tokens[i].kind == 'keyword' and i > step.first and (tokens[i].text == 'return' or tokens[i].text == 'local') then return nil end
  end
  local before, after = tokens[found - 1].text, tokens[found + 1].text
  if not ((before == '(' or before == ',') and (after == ')' or after == ',')) then return nil end
  return after == ')' and text:sub(-1) == ')' and '(' .. text .. ')' or text
end

-- A name that is not avoided; from now on it is.
local function new_name(name, avoided)
  local number = 2
  while avoided[name .. '_' .. number] do number = number + 1 end
  avoided[name .. '_' .. number] = true
  return name .. '_' .. number
end

-- Names that the step must not have at this call: `hidden` are those that it gives up for others.
function Expansion:names_to_avoid(step, call)
  local hidden, avoided = {}, {}
  for name in pairs(call.use.visible) do hidden[name] = true end
  for _, name in ipairs(call.targets) do hidden[name] = true end
  for name in pairs(self.left) do hidden[name] = true end
  for name in pairs(call.is_open and self.globals or {}) do hidden[name] = true end
  for name in pairs(hidden) do avoided[name] = true end
  for _, known in ipairs(step.declared) do avoided[known.name] = true end
  for _, use in ipairs(step.uses) do avoided[use.name] = true end
  return hidden, avoided
end

-- The parameters that become local variables, and their values; the others get what stands for them.
function Expansion:parameters_at(step, call)
  local kept, values, others = {}, {}, -1
  for _, argument in ipairs(call.arguments) do
    if not self:replacement_of(argument, call.use) then others = others + 1 end
  end
  for i, known in ipairs(step.made.parameters) do
    local argument = call.arguments[i]
    local text, is_constant = 'nil', true
    if argument then text, is_constant = self:replacement_of(argument, call.use) end
    if argument and not text then text = self:single_use(step, known, argument, others) end
    if text and not step.is_set[known] then
      call.becomes[known], call.is_constant[known] = text, is_constant
    else
      kept[#kept + 1] = known
      if argument then values[#values + 1] = self:text_of(argument[1], argument[2]) end
    end
  end
  for _ = #values + 1, values[1] and #kept or 0 do values[#values + 1] = 'nil' end
  return kept, values
end

-- Notes what each name of the step becomes at this call, and the local variables for parameters.
function Expansion:name_all(step, call)
  call.becomes, call.is_constant = {}, {}
  local kept, values = self:parameters_at(step, call)
  if call.is_open then self:name_results(step, call) end
  local hidden, avoided = self:names_to_avoid(step, call)
  for _, known in ipairs(step.declared) do
    if not call.becomes[known] then
      call.becomes[known] = hidden[known.name] and new_name(known.name, avoided) or known.name
      if call.is_open then self.left[call.becomes[known]] = true end
    end
  end
  local variables = {}
  for i, known in ipairs(kept) do variables[i] = call.becomes[known] end
  call.variables, call.values = variables, values
end

-- What the step reads must not be hidden by a name of the caller.
function Expansion:check_meanings(step, call)
  local is_target = {}
  for _, name in ipairs(call.statement.kind == 'local' and call.targets or {}) do is_target[name] = true end
  for _, use in ipairs(step.uses) do
    local is_hidden = not step.is_own[use.declared] and (call.use.visible[use.name] ~= use.declared or is_target[use.name])
    if is_hidden then
      self:fail(call.use.line, step.name, ' is inline, and uses ', use.name, ', which is another name at this call')
    end
  end
  local statement = call.statement
  for i = call.use.token + 1, statement.last do
    local token, before = self.tokens[i], self.tokens[i - 1].text
    if token.kind == 'name' and is_target[token.text] and before ~= '.' and before ~= ':' then
      self:fail(call.use.line, step.name, ' is inline: the call declares ', token.text, ', which its arguments use')
    end
  end
end
