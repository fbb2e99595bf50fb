-- Lists of pairs that `enqueue` collects, fields of its request (enqueue_any.lua), each of which is nil until its first
-- pair.
--
-- gives: collect

-- Lua makes a table with its first pair in half the time that it takes to make it empty and let it grow.
local function collect(request, name, first, second)
  local list = request[name]
  if list then
    list[#list + 1], list[#list + 2] = first, second
  else
    request[name] = {first, second}
  end
end
