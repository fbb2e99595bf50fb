-- Converts an argument of a script to a whole number in a range; nil: it is none.
--
-- gives: whole

local function whole(value, min, max)
  value = tonumber(value)
  return value and value >= min and value <= max and value % 1 == 0 and value or nil
end
