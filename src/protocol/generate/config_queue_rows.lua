-- The part of config/rows.h for the settings of queues.
local model = require('setting_rows')

local function sentence(row)
  local text = row.help:gsub('^%l', string.upper) .. '.'
  return row.more and text .. ' ' .. row.more or text
end

local function seconds(ms)
  return ('%.14g'):format(ms / 1000)
end

-- Is it below a group that sets all its settings?
local function is_whole(row)
  for _, group in ipairs(model.groups) do
    if group.whole and row.name:sub(1, #group.name + 1) == group.name .. '.' then return true end
  end
end

local function default(row)
  if row.type == 'flag' then return 'false' end
  if row.minus and is_whole(row) then return '-1' end
  if not row.default then return 'none' end
  return row.type == 'ms' and seconds(row.default) or ('%.0f'):format(row.default)
end

local function default_of(row)
  if is_whole(row) then return ('.standard = "%s"'):format(default(row)) end
  return ('.otherwise = "as stored in Redis, else %s"'):format(default(row))
end

local KINDS = {count = 'WHOLE', bytes = 'WHOLE', days = 'WHOLE', ms = 'SECONDS', flag = 'SWITCH', type = 'TEXT'}
local function row_of(row)
  local path, help = 'queues[].' .. row.name, ('%q'):format(sentence(row))
  if row.type == 'backoff' then return ('BACKOFF("queues[]", _queue, settings.backoff, settings.given[%s], "as stored in Redis"),'):format(row.id) end
  if row.type == 'rate' then
    local above = path:gsub('%.rate$', '')
    local member = row.name:gsub('%.', '_')
    return ('RATE("%s", _queue, %s, has_%s, %s),'):format(above, member, member, help)
  end
  local place = row.type == 'type' and 'QUEUE_TEXT' or 'QUEUE_NUMBER'
  local range = row.type == 'type' and '.check = check_on_dead, .expected = ON_DEAD_EXPECTED' or
    row.type == 'flag' and '' or
    ('.min = %s, .max = %s'):format(row.type == 'ms' and seconds(row.min) or ('%.0f'):format(row.min),
      row.type == 'ms' and seconds(row.max) or ('%.0f'):format(row.max))
  local unlimited = row.minus or row.words and row.words[1][2] == -1
  return ('{"%s", RV_SETTING_%s, %s(%s), %s%s%s, .help = %s},'):format(path, KINDS[row.type], place, row.id,
    range ~= '' and range .. ', ' or '', unlimited and '.forever = true, ' or '', default_of(row), help)
end

return function()
  local out, begun = {'/* from src/protocol/definition/settings.lua */'}, {}
  for _, row in ipairs(model.rows) do
    for _, group in ipairs(model.groups) do
      if not begun[group] and row.name:sub(1, #group.name + 1) == group.name .. '.' then
        begun[group] = true
        out[#out + 1] = ('{"queues[].%s", RV_SETTING_GROUP, .at = RV_NOWHERE, .otherwise = "as stored in Redis", .help = %q},')
          :format(group.name, group.help)
      end
    end
    out[#out + 1] = row_of(row)
  end
  return table.concat(out, '\n')
end
