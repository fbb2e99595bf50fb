-- protocol/settings_table.c: the settings of queues as rows of C.
local model = require('setting_rows')

local function words(row)
  local out = {}
  for _, word in ipairs(row.words or {}) do
    out[#out + 1] = ('{"%s", %d}'):format(word[1], tonumber(word[2]) or 0)
  end
  return #out > 0 and (', .words = {%s}'):format(table.concat(out, ', ')) or ''
end

local function place(row)
  if not row.c then return '.at = RV_NOT_PUBLIC' end
  local part = row.part ~= '' and ('offsetof(%s, %s)'):format(model.structs[row.pointer], row.part) or '0'
  return ('.at = offsetof(reeve_queue_settings, %s), .held = offsetof(rv_held_settings, %s), .part = %s, .store = RV_STORE_%s')
    :format(row.pointer, row.pointer, part, row.ctype:upper())
end

local function number(value)
  return ('INT64_C(%.0f)'):format(value or 0)
end

local function text(value)
  return value and ('%q'):format(value) or 'NULL'
end

local function row_of(row)
  return ('    {.name = %q, .field = %d, .member = %s, .type = RV_QUEUE_IS_%s,\n     .min = %s, .max = %s, .otherwise = %s, .can_unset = %s%s,\n' ..
    '     %s,\n     .flag = %s, .value = %s, .example = %s, .json = %s, .json_null = %s, .script = %q},'):format(row.name,
    model.by_field[row.field].index, text(row.member), row.type:upper(), number(row.min), number(row.max), number(row.default),
    (row.unset or row.type == 'type') and 'true' or 'false', words(row), place(row), text(row.flag), text(row.value), text(row.example),
    text(row.json), row.json_null and number(row.json_null) or 'INT64_MIN', row.script)
end

return function()
  local out = {'/* made from src/protocol/definition/settings.lua; do not edit */', '#include "protocol/queue_settings.h"', '',
    'const rv_queue_setting rv_queue_settings[RV_QUEUE_SETTINGS] = {'}
  for _, row in ipairs(model.rows) do out[#out + 1] = row_of(row) end
  out[#out + 1] = '};\n\nconst rv_queue_field rv_queue_fields[RV_QUEUE_FIELDS] = {'
  for _, field in ipairs(model.fields) do
    local names = {}
    for i, row in ipairs(field.rows) do names[i] = row.name end
    out[#out + 1] = ('    {%q, %q, RV_QUEUE_IS_%s, %s, %q},'):format(field.name, table.concat(names, ', '),
      field.rows[2] and 'MEMBERS' or field.rows[1].type:upper(), field.rows[1].id, field.rows[1].script)
  end
  out[#out + 1] = '};\n'
  return table.concat(out, '\n')
end
