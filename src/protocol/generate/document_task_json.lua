-- docs/json.md: the members of a task that are options.
local markdown = require('markdown')
local TYPE = {whole = 'whole or null', span = 'span or null', flag = 'flag', text = 'text or null'}

return function()
  local rows = {}
  for _, row in ipairs(require('options')) do
    if row.json then rows[#rows + 1] = row end
  end
  return markdown.table({'member', 'type', ''}, rows, function(row)
    return {markdown.code(row.json), row.json_type or row.always and 'whole' or TYPE[row.kind], row.shown}
  end)
end
