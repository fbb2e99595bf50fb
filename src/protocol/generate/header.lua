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

-- The states that users see and `is_chosen`, as a macro list and as text: `a, b or c`.
local function some_states(out, name, is_chosen)
  local chosen, ready, words = {}, nil, nil
  for _, row in ipairs(require('states')) do
    if not row.shown and is_chosen(row) then
      -- Tasks in other states become ready meanwhile: whoever visits one state after the other visits `ready` last.
      if row.name == 'ready' then ready = row else chosen[#chosen + 1] = row end
    end
  end
  chosen[#chosen + 1] = ready
  list(out, 'RV_' .. name, chosen, function(row) return row.name:upper() end)
  for i, row in ipairs(chosen) do
    words = not words and row.name or words .. (i < #chosen and ', ' or ' or ') .. row.name
  end
  out[#out + 1] = ('#define RV_%s_TEXT "%s"'):format(name, words)
end

local function states(out)
  out[#out + 1] = '\n/* The states that users see: X(NAME, "name", "title of its time"). */'
  list(out, 'RV_STATES', require('states'), function(row)
    return not row.shown and ('%s, "%s", "%s"'):format(row.name:upper(), row.name, row.title)
  end)
  local columns = {}
  for _, row in ipairs(require('states')) do
    if row.column then columns[#columns + 1] = row end
  end
  table.sort(columns, function(a, b) return a.column < b.column end)
  out[#out + 1] = '\n/* The same in the order of the columns of `reeve queues`: X(NAME, "TITLE"). */'
  list(out, 'RV_STATE_COLUMNS', columns, function(row) return ('%s, "%s"'):format(row.name:upper(), row.name:upper()) end)
  out[#out + 1] = '\n/* Some of them, X(NAME), and their names as a text: all; those in which a task waits, has ended, or can be retried. */'
  some_states(out, 'ALL_STATES', function() return true end)
  some_states(out, 'WAITING_STATES', function(row) return row.rank and not row.ended end)
  some_states(out, 'ENDED_STATES', function(row) return row.ended end)
  some_states(out, 'RETRIED_STATES', function(row) return row.retried end)
end

-- The kinds of findings: X("kind", "finding", "what follows from it", "its repair").
local function findings(out)
  local function plain(words) return ('"%s"'):format(words:gsub('`', ''):gsub('"', '\\"')) end
  out[#out + 1] = '\n/* What a check finds: X("kind", "finding", "what follows from it", "its repair"), see definition/findings.lua. */'
  list(out, 'RV_FINDINGS', require('findings'), function(row)
    return row.name and table.concat({plain(row.name), plain(row.what), plain(row.why), plain(row.repair)}, ', ')
  end)
end

return function()
  local out = {'/* made from src/protocol/definition; do not edit */', '#ifndef RV_DEFINITION_H', '#define RV_DEFINITION_H', '',
    '#include <stdint.h>'}
  constants(out)
  out[#out + 1] = '\n/* Constants that include/reeve repeats: X(RV_..., REEVE_...). */'
  list(out, 'RV_PUBLIC_CONSTANTS', require('constants'), function(row)
    return row.public and ('RV_%s, %s'):format(row.name, row.public)
  end)
  states(out)
  findings(out)
  out[#out + 1] = '\n#endif\n'
  return table.concat(out, '\n')
end
