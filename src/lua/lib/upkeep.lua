-- Upkeep: when somebody last maintained the queue, by a heartbeat (heartbeat.lua) or a call of maintain.lua. Where nobody did for
-- longer than half a session's life, Redis was away or frozen, its clock was set forward, or no worker was there. Sessions
-- that expired meanwhile are spared for one life, so that those whose workers live renew them: time in which no heartbeat
-- could come does not count. A session that had expired before is not spared. What is left of an amnesty at the next such gap goes on,
-- and each such gap takes half a life off it, so that sessions of dead workers end however rarely somebody comes.
--
--   settings upkeep  "<last> <life> <since> <ends>", while there are sessions, or something has a time: the last look, and the life
--                    of a session (ms) as that caller knew it; before `ends` no session is reaped that expired after `since`
--
-- Who reads it: maintain.lua, which renews it, and reap.lua (lib/dead_session.lua).
--
-- gives: next_upkeep

-- known: the field, or false. life: nil when the caller knows none. Returns what the field is to be, or nil when it may stay;
-- since and ends; and by how much the clock was set back, if it was by a second or more: then the field is for maintain.lua
-- alone to write, which puts right what refers to the other time. A field that is absent or malformed says nothing: without a
-- life it stays as it is. Nobody hurries that call of maintain.lua: a worker's scheduler sends it within one session's life.
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
