-- What limits count is counted anew now and then: a count that were too high would shut its queue or group for ever.
-- Needs base.
-- include: lib/counts.lua

-- Where there are few sessions.
local SESSIONS_MOST = 50
local function recount_running(P)
  if call('ZCARD', P .. 'sessions') > SESSIONS_MOST then return end
  local running, counted = count_running(P), tonumber(call('HGET', P .. 'gate', 'running')) or 0
  if running ~= counted then call('HSET', P .. 'gate', 'running', text(running)) end
end

local function waits(P, id)
  for _, set in ipairs({'scheduled', 'ready', 'parked', 'blocked'}) do
    if call('ZSCORE', P .. set, id) then return true end
  end
end

-- Of groups where nothing runs, as nobody is there: only tasks that wait have slots, in strict groups. (Where there are few.)
local SLOTS_MOST = 50
local function recount_slots(P, now)
  if call('EXISTS', P .. 'sessions') == 1 or call('EXISTS', P .. 'slots', P .. 'taken') == 0 or
    call('HEXISTS', P .. 'gate', 'counting') == 1 or
    math.max(call('HLEN', P .. 'slots'), call('HLEN', P .. 'taken')) > SLOTS_MOST then return end
  local slots, taken, counts, opens = call('HGETALL', P .. 'slots'), call('HGETALL', P .. 'taken'), {}, false
  for i = 1, #slots, 2 do
    if waits(P, slots[i]) then
      counts[slots[i + 1]] = (counts[slots[i + 1]] or 0) + 1
    else
      call('HDEL', P .. 'slots', slots[i])
    end
  end
  for i = 1, #taken, 2 do
    local count = counts[taken[i]]
    if count ~= tonumber(taken[i + 1]) then
      if count then call('HSET', P .. 'taken', taken[i], text(count)) else call('HDEL', P .. 'taken', taken[i]) end
      if call('EXISTS', P .. 'parked:' .. taken[i]) == 1 then
        call('ZADD', P .. 'opening', text(now), taken[i])
        opens = true
      end
    end
  end
  return opens
end

-- Returns whether a group is to be looked at now.
local function recount(P, flags, now)
  if find(flags, 'c', 1, true) then recount_running(P) end
  return find(flags, 's', 1, true) and recount_slots(P, now)
end
