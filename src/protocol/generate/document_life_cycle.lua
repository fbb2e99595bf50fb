-- The drawing of the transitions that have words for their arrows.
local function node(name)
  return name == 'none' and '[*]' or name
end

return function()
  local out = {'```mermaid', 'stateDiagram-v2'}
  for _, row in ipairs(require('transitions')) do
    if row.drawn then out[#out + 1] = ('    %s --> %s: %s'):format(node(row.from), node(row.to), row.drawn) end
  end
  out[#out + 1] = '```'
  return table.concat(out, '\n')
end
