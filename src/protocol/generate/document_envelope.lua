local markdown = require('markdown')

return function()
  return markdown.table({'field', 'type', 'range or unit', 'written by', 'read by', 'meaning'}, require('envelope'), function(row)
    return {markdown.code(row.name), row.type, row.range, row.by, row.read .. (row.checked and ' (checked)' or ''), row.help}
  end)
end
