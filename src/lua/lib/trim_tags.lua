-- A step of maintain.lua: removes tasks that do not exist any more from the index of tags (lib/tags.lua). They get
-- there if a queue keeps no completed tasks: turn.lua does not read the tags of each task that it completes.
--
-- requires: base, budget, tags
-- gives: trim_tag

-- Checks some tasks of one tag, chosen at random, at most `max`. If the tag has no tasks, another program has deleted
-- its key, or put a value of a wrong type there, which is removed.
local function trim_tag(P, max)
  local tag = call('ZRANDMEMBER', P .. 'tags')
  if not tag then return end
  local ids, gone = call('ZRANDMEMBER', P .. 'tag:' .. tag, budget.room(2, 16, max)), {}
  for i = 1, #ids do
    if call('HEXISTS', P .. 'tasks', ids[i]) == 0 then gone[#gone + 1] = ids[i] end
  end
  if #ids == 0 then
    call('ZREM', P .. 'tags', tag)
  elseif #gone > 0 then
    unindex_tag(P, tag, unpack(gone))
  end
end
