-- Tags: tasks are found by them. Needs base. A queue without tags pays for one look when records go.
--
--   tag:<tag>  zset  id -> when it was enqueued (lib/ties.lua), of every task with that tag that exists
--   tags       zset  tag -> when it was last given, while there is a task with it
local function unindex_tag(P, tag, ...)
  call('ZREM', P .. 'tag:' .. tag, ...)
  if call('EXISTS', P .. 'tag:' .. tag) == 0 then call('ZREM', P .. 'tags', tag) end
end

-- These tasks are about to go. (One at a time: their envelopes may be large.)
local function forget_tags(P, ids)
  if call('EXISTS', P .. 'tags') == 0 then return end
  for i = 1, #ids do
    local envelope = call('HGET', P .. 'tasks', ids[i])
    for _, tag in ipairs(envelope and header(envelope).tags or {}) do unindex_tag(P, tag, ids[i]) end
  end
end
