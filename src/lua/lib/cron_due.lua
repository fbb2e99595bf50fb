-- A step of maintain.lua: finds the recurring entries that are due. The caller of maintain.lua enqueues their tasks
-- (fire.lua).
--
-- requires: base, first_time
-- gives: due_entries
-- fields: entries

-- Returns {entries, due}. entries: name, time, the first line of the definition, ... of at most @CRON_DUE_MAX@ entries
-- that are due; due: when the next other entry is due. If more are due, they are a page that depends on the time. A
-- fixed page could consist of entries that no worker understands, which stay due, and would hide the others. A caller
-- that gets a full page calls again: at once if it fired an entry, else after a pause.
local function due_entries(P, now)
  local head, entries = first_time(P, 'cron:due'), {}
  if not head or head > now then return {entries = entries, due = head} end
  local count = call('ZCOUNT', P .. 'cron:due', '-inf', text(now))
  local first = text(math.max(0, math.min(@CRON_DUE_MAX@ * (now % math.ceil(count / @CRON_DUE_MAX@)), count - @CRON_DUE_MAX@)))
  local due = call('ZRANGEBYSCORE', P .. 'cron:due', '-inf', text(now), 'WITHSCORES', 'LIMIT', first, @CRON_DUE_MAX@)
  for i = 1, #due, 2 do
    local definition = call('HGET', P .. 'cron', due[i])
    if definition then
      local n = #entries
      entries[n + 1], entries[n + 2] = due[i], due[i + 1]
      entries[n + 3] = sub(definition, 1, (find(definition, '\n', 1, true) or 0) - 1)
    else
      call('ZREM', P .. 'cron:due', due[i])
    end
  end
  local later = call('ZRANGEBYSCORE', P .. 'cron:due', '(' .. text(now), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  return {entries = entries, due = tonumber(later)}
end
