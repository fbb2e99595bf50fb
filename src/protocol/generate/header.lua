-- protocol/definition.h: the definition for C.
local function constants(out)
  for _, row in ipairs(require('constants')) do
    out[#out + 1] = ('#define RV_%s INT64_C(%.0f) /* %s */'):format(row.name, row.value, row.help)
  end
end

return function()
  local out = {'/* made from src/protocol/definition; do not edit */', '#ifndef RV_DEFINITION_H', '#define RV_DEFINITION_H', '',
    '#include <stdint.h>', ''}
  constants(out)
  out[#out + 1] = '\n#endif\n'
  return table.concat(out, '\n')
end
