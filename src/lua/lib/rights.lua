-- What a user must be allowed to do. Redis refuses a command when it is called, which may be behind others that have
-- written: so a session does not begin for a user who lacks any of these, and nothing is leased to it. Needs base.
-- (Notices and events are not among them: see publish in lib/base.lua, tell in lib/event.lua.)
local function missing_rights(P)
  local key, missing = P .. 'tasks', {}
  for name in string.gmatch(
    'DEL EXISTS EXPIRE EXPIREAT GET HDEL HEXISTS HGET HGETALL HINCRBY HKEYS HLEN HMGET HSCAN HSET HSETNX HSTRLEN ' ..
    'LINDEX LINSERT LLEN LPOP LPOS LPUSH LRANGE LREM LSET LTRIM RENAME RPUSH SADD SCARD SET SISMEMBER SMEMBERS ' ..
    'SMISMEMBER SREM UNLINK XLEN XREVRANGE ZADD ZCARD ZCOUNT ZINCRBY ZMSCORE ZPOPMIN ZRANDMEMBER ZRANGE ' ..
    'ZRANGEBYSCORE ZRANK ZREM ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREVRANGE ZREVRANGEBYSCORE ZSCAN ZSCORE', '%a+') do
    if not redis.acl_check_cmd(name, key, key) then missing[#missing + 1] = name end
  end
  return missing
end

local function expect_rights(P)
  local missing = missing_rights(P)
  if #missing == 0 then return end
  error({err = 'NOPERM reeve needs rights to ' .. table.concat(missing, ', ') .. ' on the keys ' .. P .. '*'})
end
