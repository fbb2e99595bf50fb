local markdown = require('markdown')
local visible = require('visible_states')

return function()
  return markdown.table({'value', 'meaning'}, visible(), function(row) return {markdown.code(row.name), row.help} end)
end
