-- `the same` refers to the row above.
local markdown = require('markdown')

return function()
  return markdown.table({'from', 'to', 'by', 'when'}, require('transitions'), function(row)
    local scripts = {unpack(row.by)}
    for _, script in ipairs(row.rarely or {}) do scripts[#scripts + 1] = script end
    return {row.from, row.to, markdown.list(scripts), row.help}
  end)
end
