-- The keys of a queue that have fixed names, and their types. Needs nothing. Returns what is wrong with one of them, as an
-- error of Redis's, or nil: a command on a key of another type fails, which may be behind others that have written. id: the
-- keys of that task are looked at, too. (Events are not among them: see tell in lib/event.lua.)
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
