-- Tags: tasks are found by them. A queue without tags pays for one look when records go.
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

-- The tags of some tasks, one after the other until so many tags and tasks were met (most; nil: all): id -> tags, or
-- nil where none has any; and how many of the tasks these are, at least one. (One at a time: their envelopes may be
-- large. To leave the index of a tag costs Redis as much as to read a task: some 3 us, in memory that is cold.)
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

-- These tasks are about to go. found: as above.
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
