-- protocol/settings_rows.h: the names of the settings of queues in C, the memory of reeve_queue_settings_get, and the
-- options of `reeve settings`.
local model = require('setting_rows')
local out

local function add(format, ...)
  out[#out + 1] = select('#', ...) > 0 and format:format(...) or format
end

local function names()
  add('typedef enum rv_queue_setting_id {')
  for _, row in ipairs(model.rows) do add('    %s, /* %s */', row.id, row.help) end
  add('    RV_QUEUE_SETTINGS\n} rv_queue_setting_id;\n')
  add('#define RV_QUEUE_FIELDS %d /* of the hash `settings` */\n', #model.fields)
end

-- The settings as reeve_queue_settings_get returns them, with all that their pointers point to.
local function held()
  local known = {}
  add('typedef struct rv_held_settings {\n    reeve_queue_settings settings; /* the first member: it is what the caller frees */')
  for _, row in ipairs(model.rows) do
    local pointer = row.pointer
    if pointer and not known[pointer] then
      known[pointer] = true
      local ctype = model.structs[pointer] or row.ctype
      add('    %s %s%s;', ctype, pointer, ctype == 'char' and '[REEVE_TYPE_MAX + 1]' or '')
    end
  end
  add('    reeve_backoff backoff;\n} rv_held_settings;\n')
end

-- [--attempts N|default] ... in lines of 100 columns at most.
local function synopsis()
  local known, lines = {}, {'QUEUE'}
  for _, row in ipairs(model.rows) do
    if row.value and not known[row.flag] then
      known[row.flag] = true
      local option = ('[--%s %s]'):format(row.flag, row.value)
      if #lines[#lines] + #option > 92 then lines[#lines + 1] = '      ' end
      lines[#lines] = lines[#lines] .. ' ' .. option
    end
  end
  add('#define RV_QUEUE_SYNOPSIS \\')
  for i, line in ipairs(lines) do add('    "%s%s"%s', line, i < #lines and '\\n' or '', i < #lines and ' \\' or '') end
  add('')
end

local function options()
  local known = {}
  add('/* OPTION(name, value, help, first row) */\n#define RV_QUEUE_OPTIONS(OPTION) \\')
  for _, row in ipairs(model.rows) do
    if row.flag and not known[row.flag] then
      known[row.flag] = true
      add('    OPTION(%q, %q, %q, %s) \\', row.flag, row.value, row.brief or row.help, row.id)
    end
  end
  add('')
end

return function()
  out = {'/* made from src/protocol/definition/settings.lua; do not edit */', '#ifndef RV_SETTINGS_ROWS_H', '#define RV_SETTINGS_ROWS_H',
    '', '#include "reeve/client.h"', ''}
  names()
  held()
  options()
  synopsis()
  add('#endif\n')
  return table.concat(out, '\n')
end
