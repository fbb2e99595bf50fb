-- The guide's table of all options of a task.
local markdown = require('markdown')
local VALUE = {whole = 'whole number', span = 'ms', time = 'ms', flag = 'flag', text = 'text'}
-- Of rows of their own kind, by the field.
local OWN = {backoff = 'struct', unique_until_started = 'flag', on_conflict = 'enum', if_exists = 'enum', tags = 'list', limit_keys = 'list', meta = 'list', after = 'list'}

return function()
  return markdown.table({'flag', 'bulk member', 'field in C', 'type in C', 'meaning (and its default)'}, require('options'), function(row)
    return {markdown.code('--' .. row.flag .. (row.argument and ' ' .. row.argument or '')) .. (row.cron and ' \\*' or ''),
      markdown.code(row.name), markdown.code(row.field), VALUE[row.kind] or OWN[row.field], row.help}
  end)
end
