-- lua5.1 embed_assets.lua OUT.c FILE...: writes the files, as they are and compressed by gzip, as a table of C. The scripts become one,
-- app.js: app.js itself, which starts the page, is its last part. Together they are compressed better, and come with one request. Their
-- comments on lines of their own stay out, and the indentation (no text of theirs goes on in another line).
local types = {html = 'text/html; charset=utf-8', css = 'text/css; charset=utf-8', js = 'text/javascript; charset=utf-8',
  svg = 'image/svg+xml'}

local function read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, 'wb'))
  assert(file:write(text))
  assert(file:close())
end

local function gzip(text)
  local plain, packed = os.tmpname(), os.tmpname()
  write(plain, text)
  assert(os.execute(("gzip -9 -n -c < '%s' > '%s'"):format(plain, packed)) == 0, 'gzip failed')
  local made = read(packed)
  os.remove(plain)
  os.remove(packed)
  return made
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

local function shorten(script)
  local lines = {}
  for line in script:gmatch('[^\n]+') do
    line = line:gsub('^%s+', '')
    if line ~= '' and line:sub(1, 2) ~= '//' then lines[#lines + 1] = line end
  end
  return table.concat(lines, '\n') .. '\n'
end

-- The assets: {name, text}.
local assets, scripts = {}, {}
for i = 2, #arg do
  local name = arg[i]:match('[^/]+$')
  if name:find('%.js$') then
    scripts[#scripts + 1] = {name, read(arg[i])}
  else
    assets[#assets + 1] = {name, read(arg[i])}
  end
end
table.sort(scripts, function(a, b)
  if (a[1] == 'app.js') ~= (b[1] == 'app.js') then return b[1] == 'app.js' end
  return a[1] < b[1]
end)
for i, script in ipairs(scripts) do scripts[i] = shorten(script[2]:gsub("'use strict';\n", '')) end
assets[#assets + 1] = {'app.js', "'use strict';\n" .. table.concat(scripts)}

local out, rows = {'/* made by embed_assets.lua; do not edit */\n#include "web/web_assets.h"\n'}, {}
for _, asset in ipairs(assets) do
  local name, text = asset[1], asset[2]
  local id, packed = name:gsub('%W', '_'), gzip(text)
  out[#out + 1] = ('static const unsigned char %s[] = {\n%s};\n'):format(id, bytes(text))
  out[#out + 1] = ('static const unsigned char %s_gzip[] = {\n%s};\n'):format(id, bytes(packed))
  rows[#rows + 1] = ('    {"%s", "%s", "\\"%s\\"", %s, %d, %s_gzip, %d},'):format(name, assert(types[name:match('%w+$')]),
    mark(text), id, #text, id, #packed)
end
out[#out + 1] = 'const web_asset web_asset_list[] = {\n' .. table.concat(rows, '\n') .. '\n    {0},\n};\n'
write(arg[1], table.concat(out, '\n'))
