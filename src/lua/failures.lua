#!lua flags=no-writes
-- failures: the dead letters of a queue by kind.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many kinds to skip, ARGV[2] how many to tell of; of more than 50 it tells of 50
-- reply    [1] how many kinds there are
--          [2...] the one that was seen last first: {kind, tasks, when one died last [ms], that one's id, its type,
--          its message}; 0 tasks and 0 and "" behind it: the set of this kind is gone
--
-- Sent twice: it only reads.
-- require: base, absent, whole

local P = KEYS[1]
local skip, most = whole(ARGV[1], 0, LATEST), whole(ARGV[2], 0, LATEST)
if not P or not skip or not most then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are how many to skip and to tell of')
end
local PAGE = 50 -- a kind takes Redis some 50 to 100 us
most = math.min(most, PAGE)
local reply = {call('ZCARD', P .. 'failures')}
local kinds = most > 0 and call('ZREVRANGE', P .. 'failures', text(skip), text(skip + most - 1)) or {}
for _, kind in ipairs(kinds) do
  local key = P .. 'failures:' .. kind
  local last = call('ZREVRANGE', key, 0, 0, 'WITHSCORES')
  local id = last[1] or ''
  local envelope = call('HGET', P .. 'tasks', id)
  reply[#reply + 1] = {kind, call('ZCARD', key), tonumber(last[2]) or 0, id,
    envelope and header(envelope).type or '', call('HGET', P .. 'info:' .. id, 'message') or ''}
end
return reply
