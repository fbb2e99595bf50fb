#!lua flags=allow-oom
-- unlock: a unique key is free, whichever task holds it. That task has no unique key any more.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the key
-- reply    the id of the task that held it, or "" when nobody did
--
-- Sent twice: the second call finds the key free, or held by a task that has taken it since, and frees it again.
-- require: base, foreign_key, header_members

local P, key = KEYS[1], ARGV[1] or ''
if key == '' or #key > @UNIQUE_MAX@ then return redis.error_reply('ERR @NAME@: ARGV[1] is a unique key') end
do
-- require: expect
  local fault = unfit(P)
  if fault then return fault end
end
local holder = call('GET', P .. 'unique:' .. key)
if not holder then return '' end
local envelope = call('HGET', P .. 'tasks', holder)
call('DEL', P .. 'unique:' .. key)
-- A key that is held for a time may outlive its task, and another task may have come under that id since.
if envelope and header(envelope, holder).unique == key then
  call('HSET', P .. 'tasks', holder, without_key(envelope, holder))
end
return holder
