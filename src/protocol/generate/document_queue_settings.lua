-- docs/protocol.md: the fields of the hash `settings` that users change.
local model = require('setting_rows')

local UNITS = {ms = 'ms', bytes = 'bytes', days = 'days'}
local function number(value)
  local text = ('%.0f'):format(value):reverse():gsub('(%d%d%d)', '%1,'):reverse():gsub('^,', '')
  return text
end

-- "1 to 16,777,216 bytes".
local function range(row)
  if row.type == 'rate' then return '`<count> <period ms> <burst>`' end
  if row.type == 'type' then return 'a type' end
  if row.type == 'flag' then return '1' end
  if row.type == 'backoff' then return 'as in an envelope' end
  local unlimited = row.words and row.words[1][2] == -1
  return ('%s to %s%s%s'):format(number(row.min), number(row.max), UNITS[row.type] and ' ' .. UNITS[row.type] or '',
    unlimited and ', -1: no limit' or '')
end

local function default(row)
  if row.default and row.type ~= 'flag' then return number(row.default) end
  return row.type == 'backoff' and 'exponential' or row.type == 'flag' and 'off' or 'none'
end

return function()
  local out = {'| field | value | while absent | meaning | changed by |', '|---|---|---|---|---|'}
  for _, row in ipairs(model.rows) do
    out[#out + 1] = ('| %s | %s | %s | %s | `%s` |'):format(
      row.member and ('`%s`, JSON member `%s`'):format(row.field, row.member) or ('`%s`'):format(row.field), range(row), default(row),
      row.type == 'backoff' and 'delays before retries' or row.help, row.script)
  end
  return table.concat(out, '\n')
end
