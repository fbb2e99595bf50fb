-- Upkeep: the time when somebody last maintained the queue, by a heartbeat (heartbeat.lua) or a call of maintain.lua. A
-- gap is a time of more than half a session's life in which nobody did: Redis was not reachable or frozen, its clock
-- was set forward, or no worker ran. Sessions that expired in the gap may be those of live workers, which could not
-- send heartbeats. So an amnesty of one life begins after a gap: these sessions are spared, that is, they are not
-- reaped, so that their workers can renew them. A session that had expired before the gap is not spared.
--
-- If another gap begins during an amnesty, the amnesty goes on after the gap: for the time that was left of it, less
-- half a life. If that is nothing, a new amnesty begins, and sessions that had expired before the new gap are not
-- spared. So sessions of dead workers are reaped at last, however rarely somebody maintains the queue.
--
--   settings upkeep  "<last> <life> <since> <ends>", while there are sessions, or something has a time. last: when the
--                    queue was last maintained; life: the life of a session in ms, as given by that caller. Until
--                    `ends`, a session that expired after `since` is spared
--
-- maintain.lua and reap.lua read the field (lib/dead_session.lua); maintain.lua and heartbeat.lua renew it.
--
-- gives: next_upkeep

-- Computes the field anew. known: the field, or false; life: of a session in ms, or nil if the caller knows none.
-- Returns four values: the new value of the field, or nil if it need not change; `since`; `ends`; and by how many ms
-- the clock was set back, if by a second or more, else nil. If it was, only maintain.lua writes the field, because it
-- also corrects other times. (The scheduler of each worker calls maintain.lua within the life of a session.) If the
-- field is absent or malformed, no session is spared, and a new value is returned only if the caller knows a life.
local function next_upkeep(known, now, life)
  local last, before, since, ends = string.match(known or '', '^(%d+) (%d+) (%d+) (%d+)$')
  if not last then return life and string.format('%d %d %d 0', now, life, now), now, 0 end
  last, before, since, ends = tonumber(last), tonumber(before), tonumber(since), tonumber(ends)
  local longest, gap = math.max(life or 0, before), now - last
  if gap < 0 then
    since, ends = math.min(since, now), math.min(ends, now + longest)
  elseif gap > longest / 2 then
    local left = ends - last - longest / 2
    if left <= 0 then since, left = last, longest end
    ends = now + left
  elseif gap < longest / 8 then
    return nil, since, ends
  end
  return string.format('%d %d %d %d', now, life or before, since, ends), since, ends, gap <= -1000 and -gap or nil
end
