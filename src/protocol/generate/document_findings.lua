-- The kinds of findings of `reeve check`, for people who repair a queue.
local markdown = require('markdown')

return function()
  return markdown.table({'kind', 'finding', 'what follows from it', 'what `--repair` does'}, require('findings'), function(row)
    local what = row.what:gsub('%%s', '<' .. (row.subject or 'id') .. '>'):gsub('%%d', '...')
    return {markdown.code(row.name), what, row.why, row.repair}
  end)
end
