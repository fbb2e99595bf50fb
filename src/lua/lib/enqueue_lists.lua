-- Lists of pairs in the request of enqueue.lua (enqueue_any.lua). A list is nil until it gets its first pair.
--
-- gives: collect

-- To create a table with its first pair takes half the time of creating an empty table that then grows.
local function collect(request, name, first, second)
  local list = request[name]
  if list then
    list[#list + 1], list[#list + 2] = first, second
  else
    request[name] = {first, second}
  end
end
