-- Counts in hashes. Another program may have written what is no number where a script counts: HINCRBY fails there,
-- which would end the script behind others of its commands. Such a field counts as 0.
--
-- requires: base
-- gives: add_to, says_count

-- Whether a value is a whole number as HINCRBY takes it.
local function says_count(value)
  local number = number_of(value, -LATEST)
  return number and text(number) == value
end

-- Returns the sum.
local function add_to(key, field, by)
  local sum = redis.pcall('HINCRBY', key, field, text(by))
  if type(sum) == 'number' then return sum end
  if not find(sum.err, 'integer', 1, true) and not find(sum.err, 'overflow', 1, true) then error(sum) end
  call('HSET', key, field, text(max(by, 0)))
  return max(by, 0)
end
