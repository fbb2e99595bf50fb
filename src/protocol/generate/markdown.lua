-- Tables of Markdown.
local markdown = {}

local TYPES = {zset = 'sorted set'}
function markdown.type(name) return TYPES[name] or name end

function markdown.code(words) return '`' .. words .. '`' end

-- A figure with commas, and its unit.
function markdown.number(value, unit)
  local text = ('%.0f'):format(math.abs(value)):reverse():gsub('(%d%d%d)', '%1,'):reverse():gsub('^,', '')
  return (value < 0 and '-' or '') .. text .. (unit and ' ' .. unit or '')
end

function markdown.list(words)
  local out = {}
  for i, word in ipairs(words) do out[i] = markdown.code(word) end
  return table.concat(out, ', ')
end

-- A bar would end a cell.
local function row(cells)
  for i, cell in ipairs(cells) do cells[i] = (cell:gsub('|', '\\|')) end
  return '| ' .. table.concat(cells, ' | ') .. ' |'
end

-- rows: of the definition; a row with `section` begins a table of its own, under that heading. cells: of a row.
function markdown.table(heads, rows, cells)
  local out, begun = {}, false
  local function begin()
    out[#out + 1] = row({unpack(heads)})
    out[#out + 1] = '|' .. ('---|'):rep(#heads)
    begun = true
  end
  for _, one in ipairs(rows) do
    if one.section then
      out[#out + 1] = (#out > 0 and '\n' or '') .. '### ' .. one.section .. '\n'
      begun = false
    else
      if not begun then begin() end
      out[#out + 1] = row(cells(one))
    end
  end
  return table.concat(out, '\n')
end

return markdown
