-- Kinds of states, as src/protocol/definition/states.lua has them.
--
-- gives: is_ended

-- state: one that users see; nil where there is no such task.
local ENDED = {@ENDED_STATES@}
local function is_ended(state)
  return ENDED[state]
end
