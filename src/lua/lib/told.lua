-- What a marked task's worker must know: {id, failures, crashes}.
local function told(P, id)
  local known = call('HMGET', P .. 'info:' .. id, 'failures', 'crashes')
  return {id, tonumber(known[1]) or 0, tonumber(known[2]) or 0}
end
