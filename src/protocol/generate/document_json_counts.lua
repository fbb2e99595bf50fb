local markdown = require('markdown')
local visible = require('visible_states')

return function()
  return markdown.table({'member', 'type', ''}, visible(), function(row)
    return {markdown.code(row.name), 'whole', 'number of tasks in this state'}
  end)
end
