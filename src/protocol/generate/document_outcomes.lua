local markdown = require('markdown')

return function()
  return markdown.table({'outcome', 'arguments', 'leads to', 'meaning'}, require('outcomes'), function(row)
    return {markdown.code(row.name), row.args, row.to, row.help}
  end)
end
