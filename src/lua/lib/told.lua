-- What a marked task's worker must know: {id, failures, crashes}, and "c" when it has left a checkpoint.
local function told(P, id)
  local known = call('HMGET', P .. 'info:' .. id, 'failures', 'crashes', 'has')
  return {id, count_of(known[1]), count_of(known[2]), known[3] or nil}
end
