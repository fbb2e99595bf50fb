-- lua5.1 embed_assets.lua OUT.c FILE...: writes the files, as they are and compressed by gzip, as a table of C.
local types = {html = 'text/html; charset=utf-8', css = 'text/css; charset=utf-8', js = 'text/javascript; charset=utf-8',
  svg = 'image/svg+xml'}

local function read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

local function gzip(path)
  local packed = os.tmpname()
  assert(os.execute(("gzip -9 -n -c '%s' > '%s'"):format(path, packed)) == 0, 'gzip failed')
  local text = read(packed)
  os.remove(packed)
  return text
end

-- A hash of the content, in two halves, in numbers that doubles hold exactly.
local function mark(text)
  local a, b = 1, 0
  for i = 1, #text do
    a = (a * 31 + text:byte(i)) % 4294967291
    b = (b * 37 + a) % 4294967279
  end
  return ('%08x%08x'):format(a, b)
end

local function bytes(text)
  local out = {}
  for i = 1, #text do
    out[#out + 1] = text:byte(i) .. (i % 24 == 0 and ',\n' or ',')
  end
  return table.concat(out)
end

local out, rows = {'/* made by embed_assets.lua; do not edit */\n#include "web/web_assets.h"\n'}, {}
for i = 2, #arg do
  local name = arg[i]:match('[^/]+$')
  local id, text, packed = name:gsub('%W', '_'), read(arg[i]), gzip(arg[i])
  out[#out + 1] = ('static const unsigned char %s[] = {\n%s};\n'):format(id, bytes(text))
  out[#out + 1] = ('static const unsigned char %s_gzip[] = {\n%s};\n'):format(id, bytes(packed))
  rows[#rows + 1] = ('    {"%s", "%s", "\\"%s\\"", %s, %d, %s_gzip, %d},'):format(name, assert(types[name:match('%w+$')]),
    mark(text), id, #text, id, #packed)
end
out[#out + 1] = 'const web_asset web_asset_list[] = {\n' .. table.concat(rows, '\n') .. '\n    {0},\n};\n'
local file = assert(io.open(arg[1], 'wb'))
assert(file:write(table.concat(out, '\n')))
assert(file:close())
