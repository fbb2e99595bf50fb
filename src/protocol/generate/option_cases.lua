-- What tests/system/st_task_options.sh tries: a line for each option whose kind has a value to try, with tabs between
--   member of the JSON of `show`, flags, members of a bulk line, expected JSON, whether recurring entries have it
local options = require('options')

local FLAG = {whole = '5', span = '90s', text = 'sample'}
local MEMBER = {whole = '5', span = '"90s"', text = '"sample"', flag = 'true'}
local SHOWN = {whole = '5', span = '90000', text = '"sample"', flag = 'true'}

local by_name = {}
for _, row in ipairs(options) do by_name[row.name] = row end

local function flag(row) return '--' .. row.flag .. (row.kind == 'flag' and '' or '=' .. FLAG[row.kind]) end
local function member(row) return ('"%s":%s'):format(row.name, MEMBER[row.kind]) end

return function()
  local out = {}
  for _, row in ipairs(options) do
    if row.json and MEMBER[row.kind] then
      local flags, members = flag(row), member(row)
      if row.with then
        local other = assert(by_name[row.with], row.with)
        flags, members = flags .. ' ' .. flag(other), members .. ',' .. member(other)
      end
      out[#out + 1] = table.concat({row.json, flags, members, SHOWN[row.kind], row.cron and 'cron' or '-'}, '\t')
    end
  end
  return table.concat(out, '\n') .. '\n'
end
