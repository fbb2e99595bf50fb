-- Whether the worker of a session that stands is there to hear. (Where it does not listen, it may have been killed, or
-- lost that connection alone.)
local function heeds(P, session)
-- include: lib/listens.lua
  return (listeners or 0) > 0
end

-- A thread that was idle is to look.
local function nudge(P, session, entry)
  call('SADD', P .. 'woken:' .. session, entry)
  call('LPUSH', P .. 'hand:' .. entry, '')
end
