-- What a completed task left.
--
-- requires: base, result_block
-- gives: result_of

-- Tasks that are read together often ended together. What was parsed is kept up to a bound.
local PARSED = 1048576
local parsed, parsed_bytes = {}, 0
local function result_block_of(P, ended)
  if parsed[ended] then return parsed[ended] end
  local result_block = call('HGET', P .. 'results', '+' .. ended)
  if not result_block then return {} end
  if parsed_bytes > PARSED then parsed, parsed_bytes = {}, 0 end
  parsed[ended], parsed_bytes = parse_result_block(result_block), parsed_bytes + #result_block
  return parsed[ended]
end

-- ended: its score in `completed`. nil: it left none.
local function result_of(P, id, ended)
  return call('HGET', P .. 'results', id) or result_block_of(P, ended)[id]
end
