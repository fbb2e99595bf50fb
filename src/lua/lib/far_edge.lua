-- An edge to a parent in another queue, which has not ended, is about to be made again for a task that replaces the
-- child: which second letter of the policy it gets, that is, what happens if that queue does not know the parent
-- (lib/dependency_register.lua).
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

-- Returns "g", "e", "r" or "d", or "u" for none: the edge is refused. While the message that registers the edge is in
-- the outbox, its letter applies. Later the parent was known to its queue; if it is not any more, it is gone ("g"). Or
-- it is expected, as the edge shows ("e").
local function if_unknown(P, edge)
  local number = tonumber(match(edge, ' (%d+)$'))
  for _, list in ipairs(number and {'outbox', 'unread'} or {}) do
    local message = message_of(P .. list, number)
    local mode = message and match(message, '^R %d+ %S+ %S+ %a(%a?)$')
    if mode then return mode ~= '' and mode or 'u' end
  end
  return find(edge, ' e ', 1, true) and 'e' or 'g'
end
