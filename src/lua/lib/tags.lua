-- Tags: the index by which tasks are found. In a queue without tags, the removal of records takes one more command.
--
--   tag:<tag>  zset  id -> when it was enqueued (lib/ties.lua), of every task with that tag that exists
--   tags       zset  tag -> when it was last given, while there is a task with it
--
-- requires: base
-- gives: forget_tags, tags_of, unindex_tag

local function unindex_tag(P, tag, ...)
  call('ZREM', P .. 'tag:' .. tag, ...)
  if call('EXISTS', P .. 'tag:' .. tag) == 0 then call('ZREM', P .. 'tags', tag) end
end

-- Reads the tags of the first of `ids`, until `most` tasks and tags were counted (nil: all). Returns id -> tags, or nil
-- if the queue has no tags; and the number of the tasks that were read, at least one. Envelopes are read one by one,
-- because they may be large. Tags count like tasks, because to remove a task from the index of a tag takes as long as
-- to read a task, about 3 us.
local function tags_of(P, ids, most)
  if #ids == 0 or call('EXISTS', P .. 'tags') == 0 then return nil, #ids end
  local found, met, n = {}, 0, 0
  while n < #ids and not (most and met >= most) do
    n = n + 1
    local envelope = call('HGET', P .. 'tasks', ids[n])
    local tags = envelope and find(envelope, '"tags"', 1, true) and header(envelope).tags or {}
    found[ids[n]], met = tags, met + 1 + #tags
  end
  return found, n
end

-- Removes tasks from the index. found: id -> tags, as tags_of returns it, or nil.
local function forget_tags(P, ids, found)
  found = found or tags_of(P, ids)
  local tagged = {}
  for i = 1, found and #ids or 0 do
    for _, tag in ipairs(found[ids[i]]) do
      tagged[tag] = tagged[tag] or {}
      table.insert(tagged[tag], ids[i])
    end
  end
  for tag, theirs in pairs(tagged) do unindex_tag(P, tag, unpack(theirs)) end
end
