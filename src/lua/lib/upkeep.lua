-- Upkeep: when somebody last maintained the queue, by a heartbeat (heartbeat.lua) or a call of maintain.lua. A gap is a
-- time of more than half a session's life in which nobody did: Redis was away or frozen, its clock was set forward, or
-- there was no worker. After a gap begins an amnesty of one life: sessions that expired in the gap are spared, so that
-- live workers can renew them. A session that had expired before the gap is not spared. If another gap comes during an
-- amnesty, the amnesty is not begun again: what was left of it, less half a life, goes on after the gap. So sessions of
-- dead workers end, however rarely somebody maintains the queue.
--
--   settings upkeep  "<last> <life> <since> <ends>", while there are sessions, or something has a time: when the queue
--                    was last maintained, and the life of a session (ms) that this caller gave; until `ends` no session
--                    is reaped that expired after `since`
--
-- Who reads it: maintain.lua, which renews it, and reap.lua (lib/dead_session.lua).
--
-- gives: next_upkeep

-- known: the field, or false. life: nil when the caller knows none. Returns the new value of the field, or nil if it
-- need not change; `since` and `ends`; and by how much the clock was set back, if by a second or more, else nil. After
-- such a step only maintain.lua writes the field, because it also corrects what refers to the other time; a worker's
-- scheduler calls it within one session's life. An absent or malformed field gives no times, and is replaced only if
-- the caller knows a life.
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
