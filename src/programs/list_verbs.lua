-- lua5.1 list_verbs.lua OUT SOURCE...: writes the list of the verbs of `reeve`, sorted by name, as a macro. A verb is
-- each "const cli_verb cli_verb_NAME = {" in the sources. The file is written only if its text changes.
local function read(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then file:close() end
  return text
end

local names = {}
for i = 2, #arg do
  for name in ('\n' .. assert(read(arg[i]), arg[i])):gmatch('\nconst cli_verb cli_verb_([a-z_]+) = {') do names[#names + 1] = name end
end
table.sort(names)
for i, name in ipairs(names) do names[i] = ('    X(%s)'):format(name) end
local text = '/* made by list_verbs.lua from the sources; do not edit */\n#define CLI_VERBS(X) \\\n' ..
  table.concat(names, ' \\\n') .. '\n'
if text ~= read(arg[1]) then
  local file = assert(io.open(arg[1], 'wb'))
  assert(file:write(text))
  assert(file:close())
end
