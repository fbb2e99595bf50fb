-- What a marked task's worker must know: {id, failures, crashes}, and "c" when it has left a checkpoint.
local function told(P, id)
  local known = call('HMGET', P .. 'info:' .. id, 'failures', 'crashes', 'has')
  return {id, tonumber(known[1]) or 0, tonumber(known[2]) or 0, known[3] or nil}
end
