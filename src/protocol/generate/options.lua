-- The options of a task (definition/task_options.lua) with what their rows leave to defaults.
local ARGUMENT = {whole = 'N', span = 'DURATION', time = 'TIME', text = 'TEXT'}

local rows, names = {}, {}
for i, given in ipairs(require('task_options')) do
  local row = {}
  for key, value in pairs(given) do row[key] = value end
  local function default(key, value) if row[key] == nil then row[key] = value end end
  assert(not names[row.name], row.name .. ' is there twice')
  names[row.name] = true
  default('field', row.name .. ((row.kind == 'span' or row.kind == 'time') and '_ms' or ''))
  default('label', (row.name:gsub('_', ' ')))
  default('argument', ARGUMENT[row.kind])
  default('flag', (row.name:gsub('_', '-')))
  default('envelope', row.name)
  default('json', row.field)
  default('view', row.label)
  default('shown', '')
  rows[i] = row
end
return rows
