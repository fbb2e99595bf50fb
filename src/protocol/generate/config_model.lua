-- The rows of ../definition/configuration.lua with what follows from their paths: list and name (of "pools[].threads": pools,
-- threads), struct (rv_config_pool), member, and count (of a list: the member that counts its elements).
local model = {rows = require('configuration')}

local STRUCTS = {}
local function struct_of(list)
  return list == '' and 'rv_config' or 'rv_config_' .. (list:gsub('s$', ''))
end

-- "worker.log.level": the member log_level of the struct `worker`.
local function member_of(name, kind)
  local first, rest = name:match('^([^.]+)%.(.+)$')
  local member = first and first .. '.' .. rest:gsub('%.', '_') or name
  return kind == 'seconds' and member .. '_ms' or member
end

for _, row in ipairs(model.rows) do
  if row.path then
    row.list, row.name = row.path:match('^(%w+)%[%]%.(.*)$')
    row.list, row.name = row.list or '', row.name or row.path
    row.struct = struct_of(row.list)
    -- A struct of the public headers has the names of the file.
    row.member = row.member or row.path:find('^tls%.') and row.path or member_of(row.name, row.kind)
    local items = {names = 'rv_config_name', numbers = 'rv_config_number', options = 'rv_config_option', groups = struct_of(row.name)}
    if items[row.kind] then
      row.count = row.name:gsub('s$', '') .. '_count'
      row.item = items[row.kind]
    end
    if not STRUCTS[row.list] then
      STRUCTS[row.list] = {}
      table.insert(model, row.list)
    end
  end
end
return model
