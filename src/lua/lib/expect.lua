-- What a script looks at before anything else, so that no command of it is refused behind others that have written.
-- (Part of a block of its own, do ... end, as a script has room for 200 locals.) Needs nothing.
-- include: lib/types.lua
-- include: lib/allowed.lua

-- Whether a key has the wrong type, asked in two commands: one that finds texts, one that finds what are no sorted sets (it
-- looks at no member, as there is nothing at the prefix itself). id: its keys are looked at, too.
local function has_wrong_type(P, id)
  local info, parents = P .. 'info:' .. (id or ''), P .. 'parents:' .. (id or '')
  local texts = redis.pcall('MGET', info, parents, P .. 'tasks', P .. 'order', P .. 'results', P .. 'result_sizes',
    P .. 'limits', P .. 'gate', P .. 'slots', P .. 'taken', P .. 'settings', P .. 'counters', P .. 'cron', P .. 'cron:last',
    P .. 'noted', P .. 'packets', P .. 'linked', P .. 'read', P .. 'fanout', P .. 'fanout_far', P .. 'outbox',
    P .. 'unread', P .. 'wake', P .. 'idle')
  for i = 1, #texts do
    if texts[i] then return true end
  end
  local sets = redis.pcall('ZINTERCARD', '22', P, P .. 'ready', P .. 'scheduled', P .. 'sessions', P .. 'completed',
    P .. 'dead', P .. 'cancelled', P .. 'bundles', P .. 'failures', P .. 'groups', P .. 'parked', P .. 'opening',
    P .. 'reopening', P .. 'rates', P .. 'holds', P .. 'blocked', P .. 'tags', P .. 'deadlines', P .. 'waiters',
    P .. 'cron:due', P .. 'limited', P .. 'retained')
  return type(sets) == 'table' and string.find(sets.err or '', '^WRONGTYPE') ~= nil
end

-- The error that the script is to return, or nil.
local function unfit(P, id)
  if not P or not string.find(P, '^[%w._:-]+:{[%w._-]+}:$') then
    return redis.error_reply('ERR @NAME@: KEYS[1] is not the prefix of a queue, <namespace>:{<queue>}:')
  end
  local words = not_allowed(P, '@COMMANDS@') or has_wrong_type(P, id) and wrong_type(P, id)
  return words and redis.error_reply(words)
end
