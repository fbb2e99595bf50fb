-- The invariants of a queue's data, each with the finding of `reeve check` where it does not hold.
local markdown = require('markdown')

return function()
  return markdown.table({'invariant', 'finding'}, require('findings'), function(row)
    return {row.rule, markdown.code(row.name)}
  end)
end
