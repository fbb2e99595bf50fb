-- How many tasks a session's hash holds: its fields without those about the session itself, which begin with '#'. Other
-- versions may keep other such fields, so these are counted; in a hash that is too large for that, those of this
-- version are subtracted.
--
-- requires: base
-- gives: count_held

local HELD_FEW, HELD_OWN = 512, {'#', '#flushed', '#suspect'}

-- left: how many fields may be looked at. begun: all that this version keeps about the session is there. Returns how
-- many fields were looked at, too.
local function count_held(key, left, begun)
  local held = call('HLEN', key)
  if held == 0 then return 0, 0 end
  if held <= HELD_FEW and held <= left then
    local looked = held
    for _, field in ipairs(call('HKEYS', key)) do
      if string.byte(field) == 35 then held = held - 1 end
    end
    return held, looked
  end
  if begun and held > #HELD_OWN and left <= 0 then return held - #HELD_OWN, 0 end
  for _, value in ipairs(call('HMGET', key, unpack(HELD_OWN))) do held = held - (value and 1 or 0) end
  return held, #HELD_OWN
end
