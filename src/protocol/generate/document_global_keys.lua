local markdown = require('markdown')

return function()
  return markdown.table({'key or channel', 'type', 'holds', 'written by', 'meaning'}, require('global_keys'), function(row)
    return {markdown.code(row.name), row.type, row.holds, row.writers, row.help}
  end)
end
