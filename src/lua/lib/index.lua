-- Adds a task to the index of each of its tags (lib/tags.lua).
--
-- requires: base, ties
-- gives: index_tags

local function index_tags(P, id, tags, now)
  for i = 1, #tags do
    local key = P .. 'tag:' .. tags[i]
    call('ZADD', key, exact(score_behind(key, now)), id)
    call('ZADD', P .. 'tags', text(now), tags[i])
  end
end
