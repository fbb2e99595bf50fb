-- The rows of ../definition/settings.lua with what follows from them: id (in C), field, ctype, pointer and part (of the
-- public struct), index; and the fields of the hash in Redis, each with its rows.
local settings = require('settings')
local CTYPES = {count = 'int64_t', ms = 'int64_t', bytes = 'int64_t', days = 'unsigned', flag = 'bool', type = 'char',
  backoff = 'reeve_backoff'}

local fields, by_field = {}, {}
for index, row in ipairs(settings) do
  row.index = index - 1
  row.id = 'RV_QUEUE_' .. row.name:upper():gsub('%.', '_')
  row.field = row.field or row.name
  row.script = row.script or 'settings'
  row.ctype = row.ctype or CTYPES[row.type]
  if row.c then row.pointer, row.part = row.c:match('^([%w_]+)%.?([%w_]*)$') end
  if not by_field[row.field] then
    by_field[row.field] = {name = row.field, rows = {}}
    fields[#fields + 1] = by_field[row.field]
    by_field[row.field].index = #fields - 1
  end
  table.insert(by_field[row.field].rows, row)
end
return {rows = settings, fields = fields, by_field = by_field, structs = settings.structs, groups = settings.groups}
