#!lua flags=no-writes
-- tags: the tags of a queue's tasks.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many tags to skip, ARGV[2] how many to tell of, at most 1000
-- reply    [1] how many tags there are
--          [2...] the one that was given last first: {tag, tasks, when it was last given [ms]}
--
-- Sent twice: it only reads.

local call = redis.call
local P, skip, most = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local reply = {call('ZCARD', P .. 'tags')}
local tags = most > 0 and call('ZREVRANGE', P .. 'tags', skip, skip + most - 1, 'WITHSCORES') or {}
for i = 1, #tags, 2 do
  reply[#reply + 1] = {tags[i], call('ZCARD', P .. 'tag:' .. tags[i]), tonumber(tags[i + 1])}
end
return reply
