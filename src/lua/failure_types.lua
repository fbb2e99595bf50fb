#!lua flags=no-writes
-- failure_types: some dead letters of a queue by type, the latest first.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many to skip, ARGV[2] how many to look at, at least 1; fewer where the call has done enough
--          (lib/budget.lua)
-- reply    [1] how many dead letters there are
--          [2] how many were looked at
--          [3...] for each of their types: {type, tasks, when the latest died [ms], that one's id, its kind, its
--          message}
--
-- Example: KEYS reeve:{mail}:  ARGV 0 1000
--   reply  3 3 {"send", 2, 1700000000000, "a", "smtp", "no such user"} {"sort", 1, 1690000000000, "b", "io", ""}
--
-- Sent twice: it only reads.
-- require: base, absent, budget, whole

local P = KEYS[1]
local skip, most = whole(ARGV[1], 0, LATEST), whole(ARGV[2], 1, LATEST)
if not P or not skip or not most then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are how many to skip and to look at')
end
local PAGE = 200
budget.left = budget.left * 3 / 4 -- each header is decoded
most = math.min(most, PAGE)
local page = call('ZREVRANGE', P .. 'dead', text(skip), text(skip + most - 1), 'WITHSCORES')
local reply, of, seen = {call('ZCARD', P .. 'dead'), 0}, {}, 0

local function add_type(name, id, died)
  local last = call('HMGET', P .. 'info:' .. id, 'kind', 'message')
  of[name] = {name, 0, tonumber(died) or 0, id, last[1] or '', last[2] or ''}
  reply[#reply + 1] = of[name]
end

while 2 * seen < #page and (seen == 0 or budget.left > 0) do
  local id, died = page[2 * seen + 1], page[2 * seen + 2]
  local envelope = call('HGET', P .. 'tasks', id)
  local name = envelope and header(envelope).type or ''
  if not of[name] then add_type(name, id, died) end
  of[name][2] = of[name][2] + 1
  seen = seen + 1
end
reply[2] = seen
return reply
