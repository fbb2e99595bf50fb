local markdown = require('markdown')
local TYPE = {whole = 'whole number', span = 'whole number', time = 'whole number', flag = 'whole number', text = 'text'}

-- The fields of the definition, and the options of a task that are only passed through: those have no row there.
local function fields()
  local out, known = {}, {}
  for i, row in ipairs(require('envelope')) do
    out[i], known[row.name] = row, true
  end
  for _, option in ipairs(require('options')) do
    if option.envelope and not known[option.envelope] then
      local range = option.kind == 'whole' and option.min .. ' to ' .. option.max or option.kind == 'flag' and '1' or
        option.kind == 'text' and 'at most ' .. option.max .. ' bytes' or 'ms'
      out[#out + 1] = {name = option.envelope, type = assert(TYPE[option.kind], option.name), range = range, by = 'producer',
        read = 'clients', help = option.help}
    end
  end
  return out
end

return function()
  return markdown.table({'field', 'type', 'range or unit', 'written by', 'read by', 'meaning'}, fields(), function(row)
    return {markdown.code(row.name), row.type, row.range, row.by, row.read .. (row.checked and ' (checked)' or ''), row.help}
  end)
end
