-- @QUEUE_SETTINGS@ in the script `settings`: a table of the fields that it changes, and of what they can be.
local model = require('setting_rows')

return function()
  local out = {'{'}
  for _, field in ipairs(model.fields) do
    local row, parts = field.rows[1], {}
    if row.script == 'settings' then
      if row.member then
        parts[#parts + 1] = 'json = true'
      elseif row.type == 'type' then
        parts[#parts + 1] = 'type = true'
      else
        parts[#parts + 1] = ('min = %.0f, max = %.0f'):format(row.min, row.max)
        for _, word in ipairs(row.words or {}) do
          if word[2] == -1 then parts[#parts] = ('min = -1, max = %.0f'):format(row.max) end
        end
      end
      local unset = row.unset or row.type == 'type'
      if unset then parts[#parts + 1] = 'unset = true' end
      if row.notice then parts[#parts + 1] = 'notice = true' end
      if row.beside then parts[#parts + 1] = ("beside = '%s'"):format(row.beside) end
      out[#out + 1] = ('  %s = {%s},'):format(field.name, table.concat(parts, ', '))
    end
  end
  out[#out + 1] = '}'
  return table.concat(out, '\n')
end
