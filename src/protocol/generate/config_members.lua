-- config/members.h: the structs that a configuration is read into, for config/config.h.
local model = require('config_model')
local TYPES = {text = 'char *', whole = 'int64_t ', seconds = 'int64_t ', truth = 'bool ', switch = 'int64_t '}

-- The type and name of the member that a row adds at this level of its struct; nil: none.
local function member_of(row)
  if row.path:find('^tls%.') or row.kind == 'size_limit' then return end
  local name, help = row.member:match('[^.]+$'), row.help and row.help:gsub('%*/', '* /')
  if row.kind == 'backoff' then return 'bool has_backoff;\nreeve_backoff backoff;' end
  if row.kind == 'rate' then return 'bool has_rate;\nreeve_rate rate; /* a count of -1: no limit */' end
  if row.count then return ('%s *%s; /* %s */\nsize_t %s;'):format(row.item, name, help, row.count:match('[^.]+$')) end
  if row.kind == 'group' or row.kind == 'choice' then return row.ctype and ('%s %s; /* %s */'):format(row.ctype, name, help) end
  local unset = row.default == nil and not row.required and (row.kind == 'text' and ' NULL: not set.' or ' 0: not set.') or ''
  local unit = row.kind == 'seconds' and ' In ms.' or ''
  return ('%s%s; /* %s%s%s */'):format(TYPES[row.kind], name, help, unit, unset)
end

local function add(out, indent, text)
  for line in text:gmatch('[^\n]+') do out[#out + 1] = indent .. line end
end

-- The members of one struct; those below a group without a type of its own are in a struct without a name.
local function write(list)
  local out, inner = {'typedef struct ' .. (list == '' and 'rv_config' or 'rv_config_' .. list:gsub('s$', '')) .. ' {',
    list == '' and '    char *file; /* its path */' or '    char *where; /* its place in the file */'}, nil
  for _, row in ipairs(model.rows) do
    if row.settings and list == 'queues' then
      add(out, '    ', 'rv_queue_values settings; /* those that the file sets; -1: none. It owns their texts */\n' ..
        'bool has_rate;\nreeve_rate rate; /* a count of -1: no limit */\nbool has_group_rate;\nreeve_rate group_rate;')
    elseif row.path and row.list == list then
      local above = row.member:match('^(.-)%.[^.]+$')
      if inner and above ~= inner and row.kind ~= 'group' and row.kind ~= 'size_limit' then
        add(out, '    ', '} ' .. inner .. ';')
        inner = nil
      end
      if above and not inner and not row.path:find('^tls%.') and row.kind ~= 'size_limit' then
        inner = above
        add(out, '    ', 'struct {')
      end
      local member = member_of(row)
      if member then add(out, inner and '        ' or '    ', member) end
    end
  end
  if inner then add(out, '    ', '} ' .. inner .. ';') end
  out[#out + 1] = ('} %s;\n'):format(list == '' and 'rv_config' or 'rv_config_' .. (list:gsub('s$', '')))
  return table.concat(out, '\n')
end

return function()
  local out = {'/* made from src/protocol/definition/configuration.lua; do not edit */'}
  for _, list in ipairs(model) do
    if list ~= '' then out[#out + 1] = write(list) end
  end
  out[#out + 1] = write('')
  return table.concat(out, '\n')
end
