-- How many tasks a session's hash holds: its fields without those about the session itself, which begin with '#'. Other
-- versions may keep other such fields, so these are counted; in a hash that is too large for that, those of this version
-- are subtracted. Needs `call`.
local HELD_FEW = 512
local function count_held(key)
  local held = call('HLEN', key)
  if held == 0 then return 0 end
  if held > HELD_FEW then
    for _, value in ipairs(call('HMGET', key, '#', '#flushed', '#suspect')) do held = held - (value and 1 or 0) end
    return held
  end
  for _, field in ipairs(call('HKEYS', key)) do
    if string.byte(field) == 35 then held = held - 1 end
  end
  return held
end
