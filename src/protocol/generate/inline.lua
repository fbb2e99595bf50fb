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
local Expansion = require('inline_step')
local lines = require('lua_lines')
local names = require('lua_names')
require('inline_call')
require('inline_text')

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
