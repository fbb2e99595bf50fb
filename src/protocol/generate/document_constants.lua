local markdown = require('markdown')

return function()
  return markdown.table({'constant', 'value', 'meaning'}, require('constants'), function(row)
    return {markdown.code(row.name), markdown.number(row.value, row.unit), row.help}
  end)
end
