local markdown = require('markdown')

return function()
  return markdown.table({'event', 'state after it', 'meaning'}, require('events'), function(row)
    return {markdown.code(row.name), row.to and table.concat(row.to, ', ') or '', row.help}
  end)
end
