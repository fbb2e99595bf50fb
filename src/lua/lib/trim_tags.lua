-- A step of maintain.lua: the index of tags (lib/tags.lua) loses tasks that are gone. A turn whose tasks end and leave
-- no record does not look at tags.
--
-- requires: base, budget, tags
-- gives: trim_tag

-- Looks at some tasks of one tag, chosen at random, at most `max`. Where the tag has none, another program has put a
-- value of another type at its key, which is removed, or has deleted it.
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
