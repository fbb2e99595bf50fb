#!lua flags=no-writes
-- stat: a queue in numbers.
--
-- KEYS[1]  the queue's prefix
-- reply    {paused, blocked, scheduled, ready, parked, running, completed, dead, cancelled,
--           completed ever, failed ever, dead ever, crashed ever, envelope at the head or "", next due in ms or -1,
--           now, paused since or "", hold until or "", concurrency or "", rate or "", each group's concurrency or "",
--           each group's rate or ""}
--
-- Sent twice: it only reads.
-- require: base, counts

local P = KEYS[1]
if not P then return redis.error_reply('ERR @NAME@: KEYS[1] is missing') end
local running = count_running(P)
local totals = call('HMGET', P .. 'counters', 'completed', 'failed', 'dead', 'crashed')
local head = call('ZRANGE', P .. 'ready', 0, 0)[1]
if head and byte(head) == PACKET then head = call('LINDEX', P .. 'packet:' .. sub(head, 2), 0) end
local envelope = head and call('HGET', P .. 'tasks', head) or ''
local due = call('ZRANGE', P .. 'scheduled', 0, 0, 'WITHSCORES')[2]
local now = clock()
local s = call('HMGET', P .. 'settings', 'paused', 'hold', 'concurrency', 'rate', 'group_concurrency', 'group_rate')
if s[2] and not ((tonumber(s[2]) or 0) > now) then s[2] = false end
return {
  s[1] and 1 or 0,
  call('ZCARD', P .. 'blocked'), call('ZCARD', P .. 'scheduled'), count_ready(P, running),
  call('ZCARD', P .. 'parked'),
  running,
  call('ZCARD', P .. 'completed'), call('ZCARD', P .. 'dead'), call('ZCARD', P .. 'cancelled'),
  tonumber(totals[1]) or 0, tonumber(totals[2]) or 0, tonumber(totals[3]) or 0, tonumber(totals[4]) or 0,
  sub(envelope, 1, (find(envelope, '\n', 1, true) or 1) - 1), tonumber(due) or -1, now,
  s[1] or '', s[2] or '', s[3] or '', s[4] or '', s[5] or '', s[6] or ''
}
