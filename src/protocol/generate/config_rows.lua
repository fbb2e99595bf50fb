-- config/rows.h: the rows of the configuration, for the table in config/setting_rows.c.
local model = require('config_model')

local function text(value) return ('%q'):format(value):gsub('\\\n', '\\n') end

local function place(row)
  if row.kind == 'group' or row.kind == 'choice' and not row.ctype then return '.at = RV_NOWHERE' end
  local at = ('.at = offsetof(%s, %s)'):format(row.struct, row.member)
  if not row.count then return at end
  return ('%s, .count_at = offsetof(%s, %s), .item_size = sizeof(%s)'):format(at, row.struct, row.count, row.item)
end

local function choices(row)
  local out = {}
  for i, choice in ipairs(row.choices) do out[i] = ('{"%s", %s}'):format(choice[1], choice[2]) end
  return ('.choices = (const rv_choice[]){%s, {NULL, 0}}'):format(table.concat(out, ', '))
end

local function row_of(row)
  if row.kind == 'backoff' then
    return ('BACKOFF("%s", %s, backoff, has_backoff, %s),'):format(row.path:gsub('%.backoff$', ''), row.struct:gsub('^rv_config', ''),
      (text(row.otherwise)))
  end
  if row.kind == 'rate' then
    return ('RATE("%s", %s, rate, has_rate, %s),'):format(row.path:gsub('%.rate$', ''), row.struct:gsub('^rv_config', ''), (text(row.help)))
  end
  if row.kind == 'size_limit' then
    return ('SIZE_LIMIT(%s, %s, %s, %s),'):format(row.name:match('(%w+)$'), row.max, (text(row.otherwise)), (text(row.help)))
  end
  local out = {('"%s", RV_SETTING_%s, %s'):format(row.path, row.kind:upper(), place(row))}
  local function add(format, value)
    if value ~= nil then out[#out + 1] = format:format(value) end
  end
  add('.min = %s', row.min)
  add('.max = %s', row.max)
  add('.forever = %s', row.forever)
  add('.short_name = "%s"', row.short)
  add('.required = %s', row.required)
  add('.unique = %s', row.unique)
  if row.choices then add('%s', choices(row)) end
  add('.check = %s', row.check)
  add('.expected = %s', row.expected and text(row.expected))
  add('.standard = %s', row.default and text(row.default))
  add('.otherwise = %s', row.otherwise and text(row.otherwise))
  add('.help = %s', (text(row.help)))
  return '{' .. table.concat(out, ', ') .. '},'
end

-- A number of Lua as one of C.
local function numbers(row)
  for _, name in ipairs({'min', 'max'}) do
    if type(row[name]) == 'number' then row[name] = ('%.14g'):format(row[name]) end
  end
  for _, name in ipairs({'forever', 'required', 'unique'}) do row[name] = row[name] and 'true' or nil end
end

return function()
  local out = {'/* made from src/protocol/definition/configuration.lua; do not edit */'}
  for _, row in ipairs(model.rows) do
    numbers(row)
    out[#out + 1] = row.settings and require('config_queue_rows')() or row_of(row)
  end
  return table.concat(out, '\n') .. '\n'
end
