local markdown = require('markdown')

return function()
  return markdown.table({'field', 'meaning'}, require('info'), function(row)
    return {markdown.code(row.name), row.help}
  end)
end
