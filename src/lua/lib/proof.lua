-- Proves that every task that ended since the first try of a repeated call still has its record. Needed for "again" of
-- enqueue.lua: if a record may be gone, an unknown id does not mean that the task is new. The proof takes a few
-- commands, and fails if the retention may have removed a record, or if a task was deleted or discarded
-- (lib/unrecorded.lua).
--
--   elapsed  the first try was sent at most so many ms ago, by the clock of the caller
--   began    what Redis's clock showed then, or less; nil: not known
--
-- With both, the script knows what Redis's clock did meanwhile. If it went forward, all that time counts. If it went
-- back, records of later times may have been removed before older ones, and nothing is proved.
--
-- requires: base
-- gives: all_kept

local SLACK = 1000 -- ms: clocks drift, and `completed` may exceed its maximum for a while
local DRIFT = 50 -- ms: the clocks differ that much within a call
-- Whether it is proved. now: ms.
local function all_kept(P, now, elapsed, began)
  if began and now - began < elapsed - DRIFT then return false end
  local since = math.min(now - elapsed, began or now) - SLACK
  local unrecorded = tonumber(call('HGET', P .. 'counters', 'unrecorded'))
  if unrecorded and unrecorded >= since then return false end
  local s = call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'dead_age', 'dead_count', 'completed_bytes')
  local function keeps(set, age, count, default_age, bytes)
    age, count = tonumber(age) or default_age, tonumber(count) or 10000
    if age >= 0 and age <= now - since or count == 0 then return false end
    local oldest = call('ZRANGE', P .. set, 0, 0, 'WITHSCORES')
    if oldest[2] and tonumber(oldest[2]) < since then return true end
    return (count < 0 or call('ZCARD', P .. set) < count) and not bytes
  end
  local day = @ONE_DAY_MS@
  return keeps('completed', s[1], s[2], day, tonumber(s[5]) and tonumber(s[5]) > 0) and
    keeps('cancelled', s[1], s[2], day) and keeps('dead', s[3], s[4], 90 * day)
end
