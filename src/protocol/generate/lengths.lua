-- lua5.1 lengths.lua FILE...: prints the functions with a name that have more than 60 lines, and then fails. A function without a
-- name around a script's page, in which modules are cheaper to use, is no function of a reader's.
local here = arg[0]:match('^(.*)/[^/]*$') or '.'
package.path = here .. '/?.lua'
local names = require('lua_names')

local LINES_MAX = 60
local faults = 0
for _, path in ipairs(arg) do
  local file = assert(io.open(path, 'rb'))
  local found = assert(names.names_of(file:read('*a'), path))
  file:close()
  for _, made in ipairs(found.functions) do
    local lines = made.last - made.first + 1
    if lines > LINES_MAX and not made.name:find(' ', 1, true) then
      faults = faults + 1
      print(('%s:%d: %s has %d lines; at most %d'):format(path, made.first, made.name, lines, LINES_MAX))
    end
  end
end
os.exit(faults == 0 and 0 or 1)
