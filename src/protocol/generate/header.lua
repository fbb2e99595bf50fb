-- protocol/definition.h: the definition for C.
local function number(value)
  local text = ('%.0f'):format(value)
  if math.abs(value) >= 2 ^ 31 then return 'INT64_C(' .. text .. ')' end
  return value < 0 and '(' .. text .. ')' or text
end

local function constants(out)
  for _, row in ipairs(require('constants')) do
    if row.section then
      out[#out + 1] = ('\n/* %s */'):format(row.section)
    else
      local unit = row.unit and row.unit .. ': ' or ''
      out[#out + 1] = ('#define RV_%s %s /* %s%s */'):format(row.name, number(row.value), unit, row.help)
    end
  end
end

-- A macro that applies X to the arguments of each row.
local function list(out, name, rows, arguments)
  out[#out + 1] = ('\n#define %s(X)'):format(name)
  for _, row in ipairs(rows) do
    local given = arguments(row)
    if given then
      out[#out] = out[#out] .. ' \\'
      out[#out + 1] = ('    X(%s)'):format(given)
    end
  end
end

return function()
  local out = {'/* made from src/protocol/definition; do not edit */', '#ifndef RV_DEFINITION_H', '#define RV_DEFINITION_H', '',
    '#include <stdint.h>'}
  constants(out)
  out[#out + 1] = '\n/* Constants that include/reeve repeats: X(RV_..., REEVE_...). */'
  list(out, 'RV_PUBLIC_CONSTANTS', require('constants'), function(row)
    return row.public and ('RV_%s, %s'):format(row.name, row.public)
  end)
  out[#out + 1] = '\n/* The states that users see: X(NAME, "name"). */'
  list(out, 'RV_STATES', require('states'), function(row)
    return not row.shown and ('%s, "%s"'):format(row.name:upper(), row.name)
  end)
  out[#out + 1] = '\n#endif\n'
  return table.concat(out, '\n')
end
