-- The guide's table of all options of a task.
local markdown = require('markdown')
local VALUE = {whole = 'whole number', span = 'ms', time = 'ms', flag = 'flag', text = 'text'}

return function()
  return markdown.table({'flag', 'bulk member', 'field in C', 'in C', 'what it does, and its default'}, require('options'), function(row)
    return {markdown.code('--' .. row.flag .. (row.argument and ' ' .. row.argument or '')) .. (row.cron and ' \\*' or ''),
      markdown.code(row.name), markdown.code(row.field), VALUE[row.kind] or '', row.help}
  end)
end
