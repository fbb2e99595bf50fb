-- lua5.1 main.lua PRODUCT OUT: writes what PRODUCT.lua, beside this file, makes of the definition (../definition). The
-- file is written only if its text changes, so that nothing is compiled again without need.
local here = arg[0]:match('^(.*)/[^/]*$') or '.'
package.path = here .. '/?.lua;' .. here .. '/../definition/?.lua'

local function read(path)
  local file = io.open(path, 'rb')
  local text = file and file:read('*a')
  if file then file:close() end
  return text
end

local product, out = arg[1], arg[2]
if not product or not out or arg[3] then
  io.stderr:write('usage: lua5.1 main.lua PRODUCT OUT\n')
  os.exit(2)
end
local text = require(product)(read(out))
if text ~= read(out) then
  local file = assert(io.open(out, 'wb'))
  assert(file:write(text))
  assert(file:close())
end
