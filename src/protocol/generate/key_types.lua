-- What lib/types.lua takes from the keys of a queue: those with fixed names, but for those whose row says `unchecked`.
--   @KEY_TYPES@        a table: type = 'name name ...'
--   @FAMILY_TYPES@     a table of the keys with a name behind a colon: ['family'] = 'type'; a name alone may be shortened
--   @OTHER_KEYS@       the keys that are no sorted sets, as arguments of a command: P .. 'tasks', ...
--   @ZSET_KEYS@        the prefix and those that are sorted sets, behind their number
local function names_by_type()
  local types, names = {}, {}
  for _, row in ipairs(require('keys')) do
    if row.name and not row.unchecked and not row.name:find('<', 1, true) then
      if not names[row.type] then
        types[#types + 1], names[row.type] = row.type, {}
      end
      table.insert(names[row.type], row.name)
    end
  end
  return types, names
end

local function arguments(names)
  local out = {}
  for i, name in ipairs(names) do out[i] = ("P .. '%s'"):format(name) end
  return table.concat(out, ', ')
end

-- Of `info:<id>` the family is `info`.
local function families()
  local rows = {}
  for _, row in ipairs(require('keys')) do
    local family = row.name and row.name:match('^([%a_]+):<')
    if family then rows[#rows + 1] = ("['%s'] = '%s'"):format(family, row.type) end
  end
  return '{' .. table.concat(rows, ', ') .. '}'
end

return function()
  local types, names = names_by_type()
  local rows, others = {}, {}
  for _, kind in ipairs(types) do
    rows[#rows + 1] = ("%s = '%s'"):format(kind, table.concat(names[kind], ' '))
    for _, name in ipairs(kind ~= 'zset' and names[kind] or {}) do others[#others + 1] = name end
  end
  return {FAMILY_TYPES = families(), KEY_TYPES = '{' .. table.concat(rows, ', ') .. '}', OTHER_KEYS = arguments(others),
    ZSET_KEYS = ("'%d', P, %s"):format(#names.zset + 1, arguments(names.zset))}
end
