-- The keys of a queue that have fixed names, and their types. Returns what is wrong with one of them, as an
-- error of Redis's, or nil: a command on a key of another type fails, which may be behind others that have written. id: the
-- keys of that task are looked at, too. (Events are not among them: see tell in lib/event.lua.)
--
-- gives: has_wrong_type, wrong_type

local KEY_TYPES = {
  hash = 'tasks order results result_sizes limits gate slots taken settings counters cron cron:last',
  zset = 'ready scheduled sessions completed dead cancelled bundles failures groups parked opening reopening rates ' ..
    'holds blocked tags deadlines waiters cron:due limited retained',
  set = 'noted packets linked read',
  list = 'fanout fanout_far outbox unread wake idle'
}
local function wrong_type(P, id)
  local function is_wrong(expected, name)
    local found = redis.pcall('TYPE', P .. name).ok
    if found and found ~= 'none' and found ~= expected then
      return 'WRONGTYPE reeve expects a ' .. expected .. ' at ' .. P .. name .. ', which is a ' .. found
    end
  end
  for expected, names in pairs(KEY_TYPES) do
    for name in string.gmatch(names, '%S+') do
      local words = is_wrong(expected, name)
      if words then return words end
    end
  end
  return id and (is_wrong('hash', 'info:' .. id) or is_wrong('hash', 'parents:' .. id)) or nil
end

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
