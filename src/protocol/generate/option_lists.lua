-- protocol/task_options.h: lists of the options of a task as macros. Whoever uses a list says what it makes of each kind.
local options = require('options')

local function quote(text) return '"' .. text:gsub('\\', '\\\\'):gsub('"', '\\"') .. '"' end

local out

-- One list: line(row) is what a row adds, or nothing. Rows of a table have commas between them.
local function list(comment, head, line)
  local between = head:find('%(ROW%)') and ',' or ''
  out[#out + 1] = '/* ' .. comment .. ' */'
  local lines = {'#define ' .. head}
  for _, row in ipairs(options) do
    local text = line(row)
    if text then lines[#lines + 1] = '    ' .. text .. between end
  end
  out[#out + 1] = table.concat(lines, ' \\\n'):gsub(',$', '') .. '\n'
end

local function call(macro, ...) return macro .. '(' .. table.concat({...}, ', ') .. ')' end

local function check(row)
  if row.check then return call('OWN', row.check) end
  if row.check == false then return nil end
  local label = quote(row.label)
  if row.kind == 'whole' then return call('WHOLE', row.field, label, row.min, row.max) end
  if row.kind == 'span' or row.kind == 'time' then return call('SPAN', row.field, label) end
  if row.kind == 'text' then
    assert(row.max, row.name .. ' has no max')
    return call('TEXT', row.field, label, row.max)
  end
end

local function write(row)
  if row.write then return call('OWN', row.write) end
  if row.write == false or not row.envelope then return nil end
  return call(row.kind == 'text' and 'TEXT' or 'NUMBER', row.field, quote((',"%s":'):format(row.envelope)))
end

local KIND = {whole = 'WHOLE', span = 'SPAN', flag = 'FLAG', text = 'TEXT'}

local function read(row)
  if not row.envelope or not KIND[row.kind] then return nil end
  local name = quote(row.envelope)
  if row.kind == 'whole' then return call('WHOLE', row.field, name, row.min, row.max, row.type or 'int') end
  return call(KIND[row.kind], row.field, name)
end

local FLAG = {whole = 'INT', span = 'DURATION', time = 'TIME', flag = 'FLAG', text = 'TEXT', own = 'OTHER'}

local function flag(row)
  return call('ROW', quote(row.flag), row.argument and quote(row.argument) or 'NULL', quote(row.help), 'CLI_' .. FLAG[row.kind],
    row.field, row.kind == 'text' and 0 or row.min or 0, row.kind == 'whole' and row.max or 0, row.read and 'cli_read_' .. row.read or 'NULL')
end

local READER = {whole = 'int', span = 'duration', time = 'time', flag = 'truth', text = 'text'}

local function member(row)
  return call('ROW', quote(row.name), 'cli_bulk_read_' .. (row.bulk or READER[row.kind]), row.field,
    row.kind == 'text' and 0 or row.min or 0, row.kind == 'whole' and row.max or 0)
end

local function keep(row)
  if not row.cron or row.keep == false then return nil end
  return row.keep and call('OWN', row.keep) or call('VALUE', quote(row.flag), row.field)
end

local function show(row)
  if row.show then return call('OWN', row.show) end
  if not row.json then return nil end
  local name = quote(row.json)
  if row.json_type and not row.json_type:find('^text') then return call('RAW', row.field, name) end
  if row.kind == 'flag' then return call('FLAG', row.field, name) end
  if row.kind == 'text' or row.kind == 'own' then return call('TEXT', row.field, name) end
  return call(row.always and 'ALWAYS' or 'NUMBER', row.field, name)
end

local function view(row)
  if row.text then return call('OWN', row.text) end
  if not row.view then return nil end
  if row.kind == 'flag' then return call('FLAG', row.field, quote(row.view), quote(row.view_text or 'yes')) end
  return call(KIND[row.kind] or 'TEXT', row.field, quote(row.view))
end

-- The members of a bulk line as the help lists them, in lines of at most 100 characters.
local function members()
  local lines, line = {}, ''
  for i, row in ipairs(options) do
    local word = ('"%s"%s%s'):format(row.name, row.bulk_type and ' (' .. row.bulk_type .. ')' or '', i < #options and ',' or '')
    if #line + 1 + #word > 100 then
      lines[#lines + 1], line = line, ''
    end
    line = line == '' and word or line .. ' ' .. word
  end
  lines[#lines + 1] = line
  for i, text in ipairs(lines) do lines[i] = '    ' .. quote(text) .. (i < #lines and ' "\\n"' or '') end
  out[#out + 1] = '/* The names of all members, in lines. */\n#define RV_TASK_OPTION_NAMES \\\n' .. table.concat(lines, ' \\\n') .. '\n'
end

return function()
  out = {'/* made from src/protocol/definition/task_options.lua; do not edit */', '#ifndef RV_TASK_OPTIONS_H',
    '#define RV_TASK_OPTIONS_H', ''}
  list('The checks of a spec.', 'RV_TASK_OPTION_CHECKS(WHOLE, SPAN, TEXT, OWN)', check)
  list('What is written to the header of an envelope.', 'RV_TASK_OPTIONS_WRITTEN(NUMBER, TEXT, OWN)', write)
  list('What is read of a header.', 'RV_TASK_OPTIONS_READ(WHOLE, SPAN, FLAG, TEXT)', function(row) return row.json and read(row) end)
  list('The same for the tasks of a recurring entry.', 'RV_CRON_OPTIONS_READ(WHOLE, SPAN, FLAG, TEXT)',
    function(row) return row.cron and read(row) end)
  list('Flags of `reeve enqueue`: rows of cli_option.', 'RV_TASK_FLAGS(ROW)', flag)
  list('Flags of `reeve cron add`.', 'RV_CRON_FLAGS(ROW)', function(row) return row.cron and flag(row) end)
  list('Flags of `reeve broadcast`.', 'RV_BROADCAST_FLAGS(ROW)',
    function(row) return row.cron and row.broadcast ~= false and flag(row) end)
  list('Members of a bulk line: rows of cli_bulk_member.', 'RV_BULK_MEMBERS(ROW)', member)
  list('What `reeve cron add` keeps.', 'RV_CRON_OPTIONS_KEPT(VALUE, OWN)', keep)
  list('The JSON of a task.', 'RV_TASK_OPTIONS_JSON(NUMBER, ALWAYS, FLAG, TEXT, RAW, OWN)', show)
  list('The lines of `reeve show`.', 'RV_TASK_OPTIONS_VIEW(WHOLE, SPAN, FLAG, TEXT, OWN)', view)
  members()
  out[#out + 1] = '#endif'
  return table.concat(out, '\n') .. '\n'
end
