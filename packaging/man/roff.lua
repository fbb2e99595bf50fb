-- roff.lua: a manual page in the man macros, from plain text. page() returns an object whose methods add to it.
local roff = {}
roff.__index = roff

-- A line of text that roff prints as it stands.
local function escape(line)
  line = line:gsub('\\', '\\e'):gsub('%-', '\\-'):gsub("'", '\\(aq'):gsub('`', '\\(ga'):gsub('%^', '\\(ha'):gsub('~', '\\(ti')
  return (line:gsub('^%.', '\\&.'))
end
roff.escape = escape

function roff.page(name, section, date, source, manual)
  local self = setmetatable({lines = {}}, roff)
  self:add('.\\" made from the help of the programs; do not edit')
  self:add(('.TH %s %s %s "%s" "%s"'):format(name:upper():gsub('%-', '\\-'), section, date, source, manual))
  return self
end

function roff:add(line) self.lines[#self.lines + 1] = line end

-- Between two paragraphs; after a head there is none to separate.
function roff:gap()
  if not self.lines[#self.lines]:match('^%.S[HS] ') then self:add('.PP') end
end

local WIDTH = 78

-- Text that is filled, in lines of a width that is easy to read.
function roff:fill(text)
  local line = ''
  for word in text:gmatch('%S+') do
    word = escape(word)
    if line == '' and word:match("^%.") then word = '\\&' .. word end
    if line ~= '' and #line + 1 + #word > WIDTH then
      self:add(line)
      line = word:match('^%.') and '\\&' .. word or word
    else
      line = line == '' and word or line .. ' ' .. word
    end
  end
  if line ~= '' then self:add(line) end
end

-- A line that keeps its break; what is too long goes on behind an escaped line feed.
function roff:keep(text)
  local line = escape(text)
  while #line > WIDTH do
    local at = line:sub(1, WIDTH - 1):match('^.*() ') or WIDTH - 1
    while line:sub(1, at):match('\\%(?%a?%a?$') do at = at - 1 end
    self:add(line:sub(1, at) .. '\\')
    line = line:sub(at + 1)
  end
  self:add(line == '' and '\\&' or line)
end
function roff:head(title) self:add('.SH ' .. title) end
function roff:sub(title) self:add('.SS ' .. escape(title)) end

-- Lines that keep their breaks.
function roff:literal(lines)
  self:gap()
  self:add('.nf')
  for _, line in ipairs(lines) do self:keep(line) end
  self:add('.fi')
end

-- Paragraphs are separated by empty lines. Lines with an indent keep their breaks; a line "Example:" or "Examples:" before
-- them is left out.
function roff:text(text)
  local block, indented = {}, false
  local function flush()
    while block[#block] == '' do block[#block] = nil end
    if #block == 0 then return end
    if indented then
      self:literal(block)
    else
      self:gap()
      self:fill(table.concat(block, ' '))
    end
    block = {}
  end
  for line in (text:gsub('\n*$', '\n')):gmatch('(.-)\n') do
    local is_indented = line:sub(1, 2) == '  ' or (indented and line == '')
    if is_indented ~= indented or (line == '' and not indented) then flush() end
    indented = is_indented
    if line ~= '' or indented then block[#block + 1] = line end
  end
  flush()
end

-- A term with its description.
function roff:item(term, description)
  self:add('.TP')
  self:add('.B ' .. escape(term))
  if description == '' then self:add('\\&') else self:fill(description) end
end

-- names: "reeve-list(1)", ...
function roff:see_also(names)
  self:head('SEE ALSO')
  for i, name in ipairs(names) do
    local page, section = name:match('^(.-)(%(.*)$')
    self:add(('.BR %s %s%s'):format(page:gsub('%-', '\\-'), section, i < #names and ',' or ''))
  end
end

function roff:write(path)
  local file = assert(io.open(path, 'wb'))
  assert(file:write(table.concat(self.lines, '\n'), '\n'))
  assert(file:close())
end

return roff
