-- The cases of st_queue_settings, a line each of fields that tabs separate:
--   flag NAME VALUE LABEL SHOWN MEMBERS FIELDS UNSET
--     an option of `reeve settings` and a value; the line "LABEL: SHOWN" that it then prints; members of the JSON, and fields of
--     the hash (name=part of the value), separated by blanks; the value that removes the fields, "-": none
--   file TEXT FIELDS
--     the settings of a queue in a configuration file, and the fields that they become
local model = require('setting_rows')

-- A value that no other row has: as the flag and the view have it, as JSON and the hash have it, as the configuration has it.
local function sample(row)
  local n = row.index + 2
  if row.type == 'ms' then return n .. 's', n * 1000, n end
  if row.type == 'bytes' then return n .. 'K', n * 1024, n * 1024 end
  if row.type == 'flag' then return 'yes', 1, 'true' end
  if row.type == 'type' then return 'type-' .. n, 'type-' .. n, '"type-' .. n .. '"' end
  if row.type == 'backoff' then return 'fixed:' .. n .. 's', '"base":' .. n .. '000', '{ shape = "fixed"; base = ' .. n .. '; }' end
  return tostring(n), n, n
end

local function json_of(row)
  local name, shown, value = row.json:match('([%w_]+)$'), sample(row)
  if row.type == 'flag' then value = 'true' end
  if row.type == 'type' or row.type == 'backoff' then value = '"' .. shown .. '"' end
  return ('"%s":%s'):format(name, value)
end

local function field_of(row)
  local _, value = sample(row)
  return row.field .. '=' .. (row.member and row.type ~= 'backoff' and ('"%s":%s'):format(row.member, value) or value)
end

local function flag_case(rows)
  local values, members, fields, unset = {}, {}, {}, '-'
  for i, row in ipairs(rows) do
    values[i], members[i], fields[i] = sample(row), json_of(row), field_of(row)
  end
  if not rows[2] and rows[1].unset then unset = rows[1].type == 'flag' and 'no' or 'default' end
  if rows[1].type == 'type' then unset = 'none' end
  local value = table.concat(values, ':')
  return table.concat({'flag', rows[1].flag, value, (rows[1].flag:gsub('-', ' ')), rows[1].type == 'days' and value .. 'd' or value,
    table.concat(members, ' '), table.concat(fields, ' '), unset}, '\t')
end

-- All settings of the script `settings`: of one group within its braces.
local function file_case()
  local order, groups, fields = {}, {}, {}
  local function group(path)
    if groups[path] then return groups[path] end
    groups[path] = {}
    local above, name = path:match('^(.-)%.?([%w_]+)$')
    if name then table.insert(group(above), {name = name, path = path}) end
    order[#order + 1] = path
    return groups[path]
  end
  for _, row in ipairs(model.rows) do
    if row.script == 'settings' then
      local above, name = row.name:match('^(.-)%.?([%w_]+)$')
      table.insert(group(above), {name = name, value = select(3, sample(row))})
      fields[#fields + 1] = field_of(row)
    end
  end
  local function written(path)
    local out = {}
    for i, item in ipairs(groups[path]) do
      out[i] = ('%s = %s;'):format(item.name, item.path and '{ ' .. written(item.path) .. ' }' or item.value)
    end
    return table.concat(out, ' ')
  end
  return table.concat({'file', written(''), table.concat(fields, ' ')}, '\t')
end

return function()
  local out, by_flag, flags = {}, {}, {}
  for _, row in ipairs(model.rows) do
    if row.flag then
      if not by_flag[row.flag] then
        by_flag[row.flag] = {}
        flags[#flags + 1] = row.flag
      end
      table.insert(by_flag[row.flag], row)
    end
  end
  for i, flag in ipairs(flags) do out[i] = flag_case(by_flag[flag]) end
  out[#out + 1] = file_case()
  return table.concat(out, '\n') .. '\n'
end
