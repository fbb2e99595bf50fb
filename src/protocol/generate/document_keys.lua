local markdown = require('markdown')

return function()
  return markdown.table({'key', 'type', 'holds', 'written by', 'meaning'}, require('keys'), function(row)
    return {markdown.code(row.name), markdown.type(row.type), row.holds, row.writers, row.help}
  end)
end
