-- Expands the steps of a script (inline.lua): the state of an expansion, and what a step consists of.
--
-- An expansion has: text, tokens, found (lua_names.lua); owners, of each line; starts, the statements by their first
-- tokens; set_elsewhere, the declarations that a function within sets; globals, the names that the text does not declare;
-- left, the names of variables that stand in the block of their call from now on; edits, what is put in place of calls and
-- definitions.
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

return Expansion
