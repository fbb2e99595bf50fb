-- docs/json.md: the objects that `reeve --json settings` prints, a table each.
local model = require('setting_rows')
local TYPES = {count = 'whole', ms = 'span', bytes = 'whole', days = 'whole', flag = 'flag', type = 'text', backoff = 'text'}

local order, members = {}, {}

local function shape_of(path)
  return path == '' and 'settings' or (path:gsub('%.', '_'))
end

-- The object of this path, a member of the one above it.
local function object(path)
  if members[path] then return members[path] end
  members[path] = {}
  if path ~= '' then
    local above, name = path:match('^(.-)%.?([%w_]+)$')
    table.insert(object(above), {name, ('`%s`'):format(shape_of(path)), ''})
  end
  order[#order + 1] = path
  return members[path]
end

local function add(row)
  local above, name = row.json:match('^(.-)%.?([%w_]+)$')
  local null = row.json_null == -1 and 'null: no limit' or row.json_null and 'null: the default' or
    row.type == 'type' and 'null: none' or row.type == 'backoff' and 'null: the default'
  local help = row.type == 'backoff' and 'the delays before retries, as `--backoff` takes them' or row.help
  table.insert(object(above), {name, TYPES[row.type] .. (null and ' or null' or ''), help .. (null and '; ' .. null or '')})
end

return function()
  object('')
  table.insert(object(''), {'queue', 'text', ''})
  for _, row in ipairs(model.rows) do
    if row.json then add(row) end
  end
  local out = {}
  table.sort(order)
  for _, path in ipairs(order) do
    out[#out + 1] = ('### `%s`\n\n| member | type | |\n|--------|------|---|'):format(shape_of(path))
    for _, member in ipairs(members[path]) do
      out[#out + 1] = ('| `%s` | %s | %s%s'):format(member[1], member[2], member[3], member[3] == '' and '|' or ' |')
    end
    out[#out + 1] = ''
  end
  return table.concat(out, '\n')
end
