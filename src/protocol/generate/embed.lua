-- lua5.1 embed.lua SCRIPT LUA_OUT [C_OUT]: puts a script of src/lua together with the modules that it requires (modules.lua)
-- and writes it twice: as Lua, to install, and as a C source with its SHA1, the name by which EVALSHA knows it. The C
-- source is what goes to Redis: without comments and needless blanks, and with short names (shorten.lua). Lines
-- stay where they are, also empty ones, so that numbers of lines in errors are those of the installed file. Both are without
-- what the script does not use of its modules (unused.lua), and with small constants written out (literal.lua).
--
-- In the text @NAME@ becomes the name of the script, @COMMANDS@ the names of all commands of Redis that it calls so that
-- they can fail it (call, not pcall), separated by blanks, @QUEUE_SETTINGS@ the table of settings_script.lua, @KEY_TYPES@ and the
-- like what key_types.lua and state_lists.lua describe, and @CONSTANT@ the number of a row of ../definition/constants.lua.
local here = arg[0]:match('^(.*)/[^/]*$') or '.'
package.path = here .. '/?.lua;' .. here .. '/../definition/?.lua'
local inline = require('inline')
local literal = require('literal')
local modules = require('modules')
local names = require('lua_names')
local shorten = require('shorten')
local unused = require('unused')

local function fail(...)
  io.stderr:write('embed: ', ...)
  io.stderr:write('\n')
  os.exit(1)
end

local function write(path, text)
  local file, fault = io.open(path, 'wb')
  if not file or not file:write(text) or not file:close() then fail(fault or path .. ': cannot be written') end
end

-- The commands that the text calls, in the order of their names.
local function commands_of(text)
  local seen, names = {}, {}
  for name in text:gsub("pcall%('", ''):gmatch("call%('(%u+)'") do
    if not seen[name] then names[#names + 1] = name end
    seen[name] = true
  end
  table.sort(names)
  return table.concat(names, ' ')
end

local function filled_in(text, name, path)
  local values = {NAME = name, COMMANDS = commands_of(text), QUEUE_SETTINGS = require('settings_script')()}
  for _, lists in ipairs({'key_types', 'state_lists'}) do
    for word, value in pairs(require(lists)()) do values[word] = value end
  end
  for _, row in ipairs(require('constants')) do
    if row.name then values[row.name] = ('%.0f'):format(row.value) end
  end
  return (text:gsub('@([%u_]+)@', function(word)
    return values[word] or fail(path, ': @', word, '@ is none of the words above, nor a constant')
  end))
end

-- Whether there must be a blank between two tokens.
local function is_apart(before, after)
  local last, first = before:sub(-1), after:sub(1, 1)
  local is_longer = first == '.' and before:find('^[%d.]') or last == '-' and first == '-' or last == '[' and first == '['
  return last:find('[%w_]') and first:find('[%w_]') or is_longer
end

-- What is sent to Redis: the tokens, on the lines on which they stand, with short names.
local function stripped(text, path, fields)
  local lines, last, start = {}, nil, text:match('^#![^\n]*') or ''
  local becomes, count = shorten.shortened(text, path, fields), 0
  names.each_token((' '):rep(#start) .. text:sub(#start + 1), function(kind, token, line)
    if kind == 'comment' then return end
    count = count + 1
    token = kind == 'number' and shorten.shorter_number(token) or becomes[count] or token
    if token == '' then return end
    for i = #lines + 1, line do lines[i], last = '', nil end
    lines[line] = lines[line] .. (last and is_apart(last, token) and ' ' or '') .. token
    last = token
  end)
  lines[1] = start .. (lines[1] or '')
  return table.concat(lines, '\n') .. '\n'
end

-- The text without comments that no code follows: of a module's head, or of a step that stands elsewhere (inline.lua). What a comment goes
-- on with on the next line stands on one line, and what is about a line of code behind that. The script's head stays as it is.
local function joined(text)
  local head, rest = text:match('^(.-\n)(\n.*)$')
  if not head then return text end
  local count
  repeat
    rest, count = rest:gsub('(\n *%-%- [^\n]*)\n *%-%- (%S)', '%1 %2')
  until count == 0
  repeat
    rest, count = rest:gsub('\n *%-%-[^\n]*\n%s*\n', '\n\n')
  until count == 0
  return head .. rest:gsub('\n *(%-%- [^\n]*)(\n *[^ \n-][^\n]*)', function(comment, code)
    return not code:find('--', 1, true) and code .. ' ' .. comment or nil
  end)
end

local WIDTH = 200

-- Splits each line of a text into its code and the comment behind it: {code, comment}; comment: '' for none.
local function lines_of(text)
  local starts, lines, line = {}, {}, 0
  names.each_token((text:gsub('^#!', '--')), function(kind, _, number, from)
    if kind == 'comment' then starts[number] = starts[number] or from end
  end)
  for from, part in text:gmatch('()([^\n]*)\n') do
    line = line + 1
    local length = starts[line] and starts[line] - from or #part
    lines[line] = {part:sub(1, length), part:sub(length + 1)}
  end
  return lines
end

-- Behind a bracket or a quotation mark a line end is a byte more than is needed: the text in which an `end` or `else`, the
-- first statement of a function, or the next statement of the block where both are short, goes on with that line. The
-- comment of either stands behind both.
local function with_lines_joined(text)
  local parts = {}
  for _, line in ipairs(lines_of(text)) do
    local code, comment, before = line[1]:gsub('^ *', ''), line[2], parts[#parts] or {'', ''}
    local word, known = code:match('^%a+'), before[1]:gsub(' *$', '')
    local is_same = known:match('^ *') == line[1]:match('^ *') or known:find('^ *local function [%w_]+%([%w_, ]*%)$')
    local is_next = word and not code:find('^local function') and #known + #code < WIDTH and is_same
    if (is_next or word == 'end' or word == 'else' or word == 'elseif') and known:find('[%)%]}\'"]$') and
      (comment == '' or before[2] == '') then
      parts[#parts] = {known .. ' ' .. code, before[2] .. comment}
    else
      parts[#parts + 1] = line
    end
  end
  for i, part in ipairs(parts) do parts[i] = part[1]:gsub('([^ ]) *$', part[2] == '' and '%1' or '%1 ') .. part[2] end
  return table.concat(parts, '\n') .. '\n'
end

-- The script's head stands behind its code.
local function behind_code(text)
  local first, at = text:match('^(#![^\n]*\n)()%-%-')
  if not first then return text end
  local head = at
  while text:find('^%-%-', at) do at = text:find('\n', at, true) + 1 end
  return first .. text:sub(at) .. '\n' .. text:sub(head, at - 1)
end

-- The text without what only the build reads, the heads of modules, and with empty lines only between comments: each line is a byte that is
-- sent.
local function tidied(text)
  text = ('\n' .. text):gsub('\n%-%- requires: [^\n]*', ''):gsub('\n%-%- gives: [^\n]*', ''):gsub('\n%-%- replaces: [^\n]*', '')
    :gsub('\n%-%- fields: [^\n]*', '')
  text = text:gsub('\n%-%-\n%s*\n', '\n\n'):gsub('\n[ \n]*\n\n', '\n\n')
  text = joined(text)
  text = text:gsub('\n *\n( *%f[^ \n-])', '\n%1'):gsub('(\n *[^ \n-][^\n]*)\n *\n', '%1\n')
  return behind_code(with_lines_joined(text:sub(2)))
end

-- find() looks for a text as it is, also without being told, where no character of it means something in a pattern.
local function without_plain(text)
  return (text:gsub("('[^'%^%$%(%)%%%.%[%]%*%+%-%?]*'), 1, true%)", '%1)'))
end

local function sha1_of(path)
  local pipe = io.popen("sha1sum <'" .. path:gsub("'", "'\\''") .. "'")
  local sha = pipe and pipe:read('*a'):match('^%x+')
  if pipe then pipe:close() end
  return sha and #sha == 40 and sha or fail('sha1sum does not work')
end

local function write_c(path, name, text)
  write(path, text)
  local sha, lines = sha1_of(path), {}
  for first = 1, #text, 20 do
    local codes = {text:byte(first, math.min(first + 19, #text))}
    for i = 1, #codes do codes[i] = ('%d,'):format(codes[i]) end
    lines[#lines + 1] = table.concat(codes)
  end
  write(path, ([[
/* made from src/lua/%s.lua; do not edit */
#include "protocol/scripts.h"

static const char text[] = {
%s
0};

const rv_script rv_script_%s = {"%s", text, %d, "%s"};
]]):format(name, table.concat(lines, '\n'), name, name, #text, sha))
end

local script, lua_out, c_out = arg[1], arg[2], arg[3]
if not lua_out or arg[4] then
  io.stderr:write('usage: lua5.1 embed.lua SCRIPT LUA_OUT [C_OUT]\n')
  os.exit(2)
end
local name = script:match('([%w_]+)%.lua$')
local good, text, fields = pcall(modules.assemble, script)
if not good then fail(type(text) == 'table' and text.words or text) end
text = unused.leave_out(literal.write_out(text, script), script)
text = without_plain(tidied(filled_in(inline.expand_once(text, script), name, script)))
local _, fault = loadstring((text:gsub('^#!', '--')), '=' .. script)
if fault then fail(fault) end
write(lua_out, text)
if c_out then
  local fits, sent = pcall(stripped, text, script, fields)
  if not fits then fail(type(sent) == 'table' and sent.words or sent) end
  write_c(c_out, name, sent)
end
