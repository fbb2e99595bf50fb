#!lua flags=no-writes
-- tags: the tags of a queue's tasks.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many tags to skip, ARGV[2] how many to tell of, at most 1000
-- reply    [1] how many tags there are
--          [2...] the one that was given last first: {tag, tasks, when it was last given [ms]}
--
-- Sent twice: it only reads.

-- require: base, absent, whole
local P, skip, most = KEYS[1], whole(ARGV[1], 0, LATEST), whole(ARGV[2], 0, LATEST)
if not P or not skip or not most then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are how many to skip and to tell of')
end
most = math.min(most, @CALL_MAX@)
local reply = {call('ZCARD', P .. 'tags')}
local first, last = string.format('%d', skip), string.format('%d', skip + most - 1)
local tags = most > 0 and call('ZREVRANGE', P .. 'tags', first, last, 'WITHSCORES') or {}
for i = 1, #tags, 2 do
  reply[#reply + 1] = {tags[i], call('ZCARD', P .. 'tag:' .. tags[i]), tonumber(tags[i + 1])}
end
return reply
