-- What holds for the parent of a far edge that has not ended, if its queue does not know it by now. The edge is about
-- to be made anew, for a task that comes in place of the child.
--
-- requires: base
-- gives: if_unknown

-- The message of `list` with this number, or nil. The messages are in the order of their numbers.
local function message_of(list, number)
  local low, high = 0, call('LLEN', list) - 1
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local message = call('LINDEX', list, middle)
    local found = tonumber(match(message, '^%S+ (%d+)')) or LATEST
    if found == number then return message end
    if found < number then low = middle + 1 else high = middle - 1 end
  end
end

-- As lib/dependency_register.lua has it: "g", "e", "r", "d", or "u": the edge is refused. While the message that
-- registers the edge is on its way, the message says it. Later on the parent was known, and is gone if it is not any
-- more; or it is expected, as the edge says.
local function if_unknown(P, edge)
  local number = tonumber(match(edge, ' (%d+)$'))
  for _, list in ipairs(number and {'outbox', 'unread'} or {}) do
    local message = message_of(P .. list, number)
    local mode = message and match(message, '^R %d+ %S+ %S+ %a(%a?)$')
    if mode then return mode ~= '' and mode or 'u' end
  end
  return find(edge, ' e ', 1, true) and 'e' or 'g'
end
