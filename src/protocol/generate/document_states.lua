local markdown = require('markdown')

return function()
  return markdown.table({'state', 'key', 'meaning'}, require('states'), function(row)
    local shown = row.shown and (' (shown as `%s`)'):format(row.shown) or ''
    return {markdown.code(row.name) .. shown, markdown.code(row.key), row.help}
  end)
end
