-- Expands the steps of a script (inline.lua): the text that stands in place of a call.
local Expansion = require('inline_step')
local lines = require('lua_lines')

local CONSTANTS = {['nil'] = true, ['true'] = true, ['false'] = true}

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
