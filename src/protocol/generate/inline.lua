-- Expands the steps of a script: local functions whose first line ends with the comment "-- inline".
--
--   -- Gives back what ...
--   local function give_back(P, list, ids) -- inline
--     if not ids then return 0 end
--     ...
--     return #ids
--   end
--
-- To make a function costs Redis's Lua as much as a small command, at each call of the script, and to call it half as much.
-- So the build puts the body of a step at each place where the step is called, and leaves the function out: what Redis runs
-- is one long text, what a reader reads are steps. A call is a statement of one of these forms:
--
--   give_back(P, list, ids)
--   local count = give_back(P, list, ids)        and with more names
--   count = give_back(P, list, ids)              and with more names; names only, no fields
--   return give_back(P, list, ids)
--
-- Any other use of the name is refused, as are, in a step: "...", a function, a call of itself, an assignment to a name that
-- is not the step's own, and a `return` in a loop of the step, unless all calls are `return` statements.
--
-- A step with "-- inline, else a function" may also be used in functions that stand in the block of its definition: there it
-- is a function like any other, and the build puts its definition at the head of the outermost of them. So the common case is
-- written out, and a function that is made only for what is rare has the same text without a copy.
--
-- A function that the script calls once, in one of these forms, is a step as well, where it keeps to these rules (expand_once).
--
-- A parameter that the step does not assign, and for which a name or a constant is given, is replaced by that, and so is one that
-- it uses once, in a call before which it does nothing; any other is a local variable, which gets its value before the step
-- begins, in the order of the arguments. The names of the step are
-- renamed where the caller knows the same name. A name that the step uses and does not declare must mean the same at the call.
-- A `return` that is not the last statement leaves a loop that runs once. Where `local` declares the results of a step that
-- returns only in its last statement, the step's variables stay where they are, under names of their own, and those that it
-- returns are the results: this costs nothing. Else each result costs an instruction of Lua's, some forty of the machine's.
local lines = require('lua_lines')
local names = require('lua_names')

local CONSTANTS = {['nil'] = true, ['true'] = true, ['false'] = true}

local Expansion = {}
Expansion.__index = Expansion

function Expansion:fail(line, ...)
  local owner = self.owners[line]
  error({words = owner.unit.path .. ':' .. owner.line .. ': ' .. table.concat({...})}, 0)
end

function Expansion:text_of(first, last)
  if last < first then return '' end
  return self.text:sub(self.tokens[first].from, self.tokens[last].to)
end

-- ---- a step ----------------------------------------------------------------------------------------------------------

-- The uses, declarations and statements of a list that stand between two tokens.
local function between(list, first, last, key)
  local found = {}
  for _, item in ipairs(list) do
    if item[key] and item[key] > first and item[key] < last then found[#found + 1] = item end
  end
  return found
end

-- What a step consists of; refuses what cannot be expanded at any call.
function Expansion:step_of(made)
  local step = {made = made, name = made.name, known = made.known, first = made.opens + 1, last = made.ends - 1, returns = {},
    is_set = {}, holders = {}}
  local found = self.found
  if made.has_dots then self:fail(made.first, made.name, ' is inline: it must not have "..."') end
  for _, other in ipairs(found.functions) do
    if other.outer == made then self:fail(other.first, made.name, ' is inline: it must not make a function') end
  end
  step.uses = between(found.uses, made.opens, made.ends, 'token')
  step.declared = between(found.declared, made.opens, made.ends, 'token')
  for _, known in ipairs(made.parameters) do step.declared[#step.declared + 1] = known end
  local is_own = {}
  for _, known in ipairs(step.declared) do is_own[known] = true end
  for _, use in ipairs(step.uses) do
    if use.declared == made.known then self:fail(use.line, made.name, ' is inline: it must not call itself') end
    if use.is_set and not is_own[use.declared] then
      self:fail(use.line, made.name, ' is inline: it must not set ', use.name, ', which is not its own')
    end
    if use.is_set then step.is_set[use.declared] = true end
  end
  for _, statement in ipairs(between(found.statements, made.opens, made.ends, 'first')) do
    if statement.kind == 'return' then
      local is_last = statement.last == step.last or statement.last == step.last - 1 and self.tokens[step.last].text == ';'
      step.returns[#step.returns + 1] = statement
      if is_last then step.has_last = true else step.has_early = true end
      statement.is_early = not is_last
      step.loop_line = step.loop_line or statement.loops > 0 and self.tokens[statement.first].line
    end
  end
  step.is_own, step.known_at, step.has_locals = is_own, {}, false
  for _, known in ipairs(between(found.declared, made.opens, made.ends, 'token')) do
    if known.scope == made.scope then step.has_locals = true end
  end
  for _, use in ipairs(step.uses) do step.known_at[use.token] = use.declared end
  for _, known in ipairs(step.declared) do step.known_at[known.token] = known end
  return step
end

-- ---- a call ----------------------------------------------------------------------------------------------------------

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

-- ---- the text of a call ----------------------------------------------------------------------------------------------

local function is_simple(tokens, first, last)
  for i = first, last do
    local kind, text = tokens[i].kind, tokens[i].text
    if not (kind == 'number' or kind == 'string' or kind == 'name' or CONSTANTS[text] or text == ',') then return false end
  end
  return true
end

-- The tokens of a step from first to last, with the names that they have at this call, and what is between them.
function Expansion:render(step, call, first, last, changes)
  local tokens, parts, at = self.tokens, {}, nil
  local i = first
  while i <= last do
    local token, known, change = tokens[i], step.known_at[i], changes and changes[i]
    local text = known and call.becomes[known] or token.text
    if known and call.is_constant[known] then
      local after = tokens[i + 1]
      local is_base = after.kind == 'string' or after.text == '.' or after.text == ':' or after.text == '[' or after.text == '('
      text = is_base and '(' .. text .. ')' or after.text == '..' and text .. ' ' or text
    end
    if at then parts[#parts + 1] = self.text:sub(at, token.from - 1) end
    parts[#parts + 1] = change and change.text or text
    i = change and change.last or i
    at = tokens[i].to + 1
    i = i + 1
  end
  return table.concat(parts)
end

-- The values of a `return`: {first, last} tokens of each; and whether the last of them may be several.
function Expansion:values_of(statement)
  local list = self:arguments_of(statement.first, statement.last + 1)
  local last = self.tokens[statement.last]
  return list, #list > 0 and (last.text == ')' or last.text == '...' or last.kind == 'string' and #list[#list] > 1)
end

-- The variable of the step that a value is, if it is declared in no block of it.
function Expansion:variable_of(step, value)
  local known = value[1] == value[2] and step.known_at[value[1]]
  return known and step.is_own[known] and known.scope == step.made.scope and known or nil
end

-- Variables that the step returns get the names of the results.
function Expansion:name_results(step, call)
  local values, is_several = self:values_of(step.returns[1])
  if is_several and #values < #call.targets then return end
  local is_named = {}
  for i, name in ipairs(call.targets) do
    local known = values[i] and self:variable_of(step, values[i])
    if known and not call.becomes[known] and not is_named[known] then
      call.becomes[known], is_named[known] = name, true
    end
  end
end

-- Whether a name stands among the tokens of a value, as it is at this call.
function Expansion:mentions(step, call, value, name)
  for i = value[1], value[2] do
    local known = step.known_at[i]
    local text = known and call.becomes[known] or self.tokens[i].text
    if text == name and self.tokens[i].kind == 'name' then return true end
  end
  return false
end

-- {name, value} for each result whose value is not there already; nil where they cannot be assigned one after the other.
function Expansion:results_at(step, call, statement)
  local values, is_several = self:values_of(statement)
  if is_several and #values < #call.targets then return nil end
  for i = #call.targets + 1, #values do
    if not is_simple(self.tokens, values[i][1], values[i][2]) then return nil end
  end
  local list, is_fresh = {}, call.statement.kind == 'local'
  for i, name in ipairs(call.targets) do
    local text = values[i] and self:render(step, call, values[i][1], values[i][2]) or 'nil'
    if text ~= name and not (is_fresh and not call.is_open and text == 'nil') then list[#list + 1] = {name, text} end
    for j = i + 1, is_fresh and 0 or #values do
      if text ~= name and self:mentions(step, call, values[j], name) then return nil end
    end
  end
  return list
end

-- What stands for a `return`.
function Expansion:return_at(step, call, statement)
  local first, last = statement.first + 1, statement.last
  local leave = statement.is_early and ' break' or ''
  local start = call.is_open and 'local ' or ''
  if #call.targets == 0 then
    local is_left_out = first > last or is_simple(self.tokens, first, last)
    return is_left_out and leave:sub(2) or 'local _ = ' .. self:render(step, call, first, last) .. leave
  end
  local list = self:results_at(step, call, statement)
  if not list then
    return start .. table.concat(call.targets, ', ') .. ' = ' .. self:render(step, call, first, last) .. leave
  end
  local words, results, values = {}, {}, {}
  for i, one in ipairs(list) do
    words[i], results[i], values[i] = one[1] .. ' = ' .. one[2], one[1], one[2]
  end
  if not call.is_open then return (table.concat(words, '; ') .. leave):gsub('^ ', '') .. '' end
  return #list > 0 and 'local ' .. table.concat(results, ', ') .. ' = ' .. table.concat(values, ', ') or ''
end

-- The body, with the names that it has at this call.
function Expansion:body_at(step, call)
  local tokens, changes = self.tokens, {}
  for _, statement in ipairs(call.statement.kind ~= 'return' and step.returns or {}) do
    changes[statement.first] = {text = self:return_at(step, call, statement), last = statement.last}
  end
  local from = self.text:find('\n', tokens[step.made.opens].to, true) or tokens[step.made.opens].to
  local behind = self.text:sub(tokens[step.last].to + 1, tokens[step.made.ends].from - 1)
  if step.first > step.last then return '' end
  local text = self.text:sub(from + 1, tokens[step.first].from - 1) .. self:render(step, call, step.first, step.last, changes) .. behind
  return (text:gsub('[ \n]*$', ''))
end

local function indent_at(text, at)
  return text:match('^ *', lines.start_of(text, at))
end

-- Calls add(text, line) with the parts of what stands in place of the call, each with the line where it comes from.
function Expansion:write_call(step, call, add)
  self:check_meanings(step, call)
  local kind, line = call.statement.kind, call.use.line
  call.is_open = kind == 'local' and #step.returns == 1 and step.has_last
  self:name_all(step, call)
  local body = self:body_at(step, call)
  local at = self.tokens[call.statement.first].from
  local indent, old = indent_at(self.text, at), indent_at(self.text, self.tokens[step.made.opens].from)
  local is_loop = step.has_early and kind ~= 'return'
  local ends_line = self.text:find('^[ ]*\n', self.tokens[call.statement.last].to + 1)
  -- Without names of its own the body needs no block. What stands behind the call must not come into a comment.
  local is_bare = (ends_line or not body:find('--', 1, true)) and not is_loop and kind ~= 'local' and #call.variables == 0 and not step.has_locals and body ~= '' and
    not body:find('^%s*local ') and (kind ~= 'set' or step.has_last)
  local inner = (call.is_open or is_bare) and indent or indent .. '  '
  if kind == 'local' and not call.is_open then add('local ' .. table.concat(call.targets, ', ') .. ' ', line) end
  local limit_due = (call.is_open or is_bare) and '' or is_loop and 'repeat ' or 'do '
  local name = '-- ' .. step.name
  if not is_bare then add(limit_due .. name .. '\n', line) end
  if #call.variables > 0 then
    local list = #call.values > 0 and ' = ' .. table.concat(call.values, ', ') or ''
    add(inner .. 'local ' .. table.concat(call.variables, ', ') .. list .. '\n', line)
  end
  local number = self.tokens[step.made.opens].line + 1
  for part in (body .. '\n'):gmatch('([^\n]*)\n') do
    if part:sub(1, #old + 2) == old .. '  ' then part = part:sub(#old + 3) end
    if part ~= '' and is_bare then
      add((name and '' or '\n' .. inner) .. part .. (name and ends_line and ' ' .. name or ''), number)
      name = nil
    elseif part ~= '' then
      add(inner .. part .. '\n', number)
    end
    number = number + 1
  end
  if kind == 'set' and not step.has_last then
    add(indent .. '  ' .. table.concat(call.targets, ', ') .. ' = nil\n', line)
  end
  if not call.is_open and not is_bare then add(indent .. (is_loop and 'until true' or 'end'), line) end
  if kind == 'return' and not step.has_last then add('\n' .. indent .. 'return', line) end
end

-- ---- a step that is a function elsewhere -----------------------------------------------------------------------------

-- The outermost function around a use that stands in that of the definition.
local function holder_of(use, known)
  local holder = use.owner
  while holder.outer ~= known.owner do holder = holder.outer end
  return holder
end

-- What the step reads must mean the same at the head of that function.
function Expansion:check_holder(step, use, holder)
  local is_hidden = {}
  for _, known in ipairs(holder.parameters) do is_hidden[known.name] = true end
  for _, inside in ipairs(step.uses) do
    local known = use.visible[inside.name]
    local is_same = known == inside.declared or known and known.token > holder.opens
    if not step.is_own[inside.declared] and (is_hidden[inside.name] or not is_same) then
      self:fail(use.line, step.name, ' is inline, and uses ', inside.name, ', which is another name in ', holder.name)
    end
  end
end

-- Whether a use stays that of a function; then the definition goes to the head of a function, once for each.
function Expansion:stays(step, use)
  if not step.known.is_function or use.owner == step.known.owner then return false end
  local holder = holder_of(use, step.known)
  self:check_holder(step, use, holder)
  if not step.holders[holder] then
    step.holders[holder] = true
    local from, to = self:lines_of(step)
    local opens = self.tokens[holder.opens]
    local line_end = self.text:match('^[ ]*%-%-[^\n]*()\n', opens.to + 1) or opens.to + 1
    self.edits[#self.edits + 1] = {from = line_end, to = line_end - 1, line = self.tokens[step.made.opens].line,
      raw = '\n' .. self.text:sub(from, to):gsub(' *%-%- inline, else a function', '', 1):gsub('\n$', '')}
  end
  return true
end

-- ---- a function that is called once ------------------------------------------------------------------------------------

-- The tokens of the names of local functions that are called once: as steps they are shorter, and are not made.
local function called_once(found)
  local uses, has_inner, once = {}, {}, {}
  for _, use in ipairs(found.uses) do
    if use.declared then uses[use.declared] = uses[use.declared] and {} or {use} end
  end
  for _, made in ipairs(found.functions) do has_inner[made.outer or 0] = true end
  for _, made in ipairs(found.functions) do
    local use = uses[made.known or 0] and uses[made.known][1]
    local is_outside = use and not use.is_set and (use.token < made.opens or use.token > made.ends)
    if is_outside and not made.has_dots and not has_inner[made] then once[made.known.token] = true end
  end
  return once
end

-- Lua lets a function capture 60 names.
local CAPTURES_MAX = 50

-- Whether the function fits as a step at its only call, and is shorter there.
function Expansion:may_be_step(made, use)
  local owner = use.owner
  while owner and owner.outer do
    if owner.captures + made.captures > CAPTURES_MAX then return false end
    owner = owner.outer
  end
  return (pcall(function()
    local step = self:step_of(made)
    local call = self:call_of(use, step)
    self:check_meanings(step, call)
  end))
end

-- ---- a round ---------------------------------------------------------------------------------------------------------

-- The calls of a step get its body, and its definition goes.
function Expansion:replace(step, calls)
  local edits = self.edits
  for _, use in ipairs(calls) do
    local call = not self:stays(step, use) and self:call_of(use, step)
    if call then
      local first, last = self.tokens[call.statement.first], self.tokens[call.statement.last]
      edits[#edits + 1] = {from = first.from, to = last.to, step = step, call = call}
    end
  end
  local from, to = self:lines_of(step)
  if self.text:sub(to + 1, to + 1) == '\n' then to = to + 1 end
  edits[#edits + 1] = {from = from, to = to}
end

-- The lines of the definition and of the comment right above it.
function Expansion:lines_of(step)
  local tokens = self.tokens
  local first, last = step.known.token, step.made.ends
  while tokens[first].text ~= 'local' do first = first - 1 end
  return lines.above_comment(self.text, lines.start_of(self.text, tokens[first].from)), tokens[last].to
end

local function expand_round(text, owners, path, once)
  local found, fault = names.names_of(text, path, once)
  if not found then error({words = fault}, 0) end
  local self = setmetatable({text = text, owners = owners, found = found, tokens = found.tokens, starts = {},
    set_elsewhere = {}, edits = {}, left = {}, globals = {}}, Expansion)
  local steps, count = {}, 0
  for _, made in ipairs(found.functions) do
    if made.known and made.known.is_inline then
      steps[made.known] = made
      count = count + 1
    end
  end
  if count == 0 then return nil end
  for _, statement in ipairs(found.statements) do
    if statement.kind == 'call' or statement.kind == 'set' then self.starts[statement.first] = statement end
  end
  local calls_of, is_awaited = {}, {}
  for _, use in ipairs(found.uses) do
    local known = use.declared
    if not known then self.globals[use.name] = true end
    if known and use.is_set and use.owner ~= known.owner then self.set_elsewhere[known] = true end
    if known and steps[known] then
      calls_of[known] = calls_of[known] or {}
      table.insert(calls_of[known], use)
      -- A step that calls steps is expanded behind them.
      local owner = use.owner
      while owner do
        if owner.known and steps[owner.known] and owner.known ~= known then is_awaited[owner.known] = true end
        owner = owner.outer
      end
    end
  end
  for known, made in pairs(steps) do
    if not is_awaited[known] and (not known.is_once or self:may_be_step(made, calls_of[known][1])) then
      self:replace(self:step_of(made), calls_of[known] or {})
    end
  end
  table.sort(self.edits, function(a, b) return a.from < b.from end)
  return self, self.edits
end

-- Returns the text, with all steps expanded, and the owners of its lines: each {unit, line}. is_once: the steps are the functions
-- that are called once.
local function expand(text, owners, path, is_once)
  while true do
    local found, fault = names.names_of(text, path)
    if not found then error({words = fault}, 0) end
    local self, edits = expand_round(text, owners, path, is_once and called_once(found))
    if not self or #edits == 0 then return text, owners end
    local parts, new_owners, is_line_open = {}, {}, false
    local function add(part, owner)
      parts[#parts + 1] = part
      for piece in part:gmatch('[^\n]*\n?') do
        if piece ~= '' then
          if not is_line_open then new_owners[#new_owners + 1] = owner end
          is_line_open = piece:sub(-1) ~= '\n'
        end
        if type(owner) == 'number' then owner = owner + 1 end
      end
    end
    local at, line = 1, 1
    local function copy(to)
      for piece in text:sub(at, to):gmatch('[^\n]*\n?') do
        if piece ~= '' then add(piece, owners[line]) end
        if piece:sub(-1) == '\n' then line = line + 1 end
      end
      at = to + 1
    end
    for _, edit in ipairs(edits) do
      copy(edit.from - 1)
      if edit.call then
        self:write_call(edit.step, edit.call, function(part, from_line) add(part, owners[from_line]) end)
      elseif edit.raw then
        add(edit.raw, owners[edit.line])
      end
      line = line + select(2, text:sub(edit.from, edit.to):gsub('\n', ''))
      at = edit.to + 1
    end
    copy(#text)
    text, owners = table.concat(parts), new_owners
  end
end

-- Returns the text of a script, in which functions that are called once are written where they are called.
local function expand_once(text, path)
  local owners = setmetatable({}, {__index = function(_, line) return {unit = {path = path}, line = line} end})
  return (expand(text, owners, path, true))
end

return {expand = expand, expand_once = expand_once}
