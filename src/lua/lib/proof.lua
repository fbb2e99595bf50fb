-- Proof that no task which ended since the first try of this call has lost its record: neither of those that completed
-- or were cancelled nor of those that died; and that none went without a record (lib/unrecorded.lua). Bounded: a few
-- commands.
--
-- elapsed: how long ago that was at most, in ms, by the caller's clock. began: what Redis's clock said then, or less,
-- as the caller reckons; nil: it does not know. With both, what Redis's clock did meanwhile is known: where it went
-- forward, all that time counts; where it went back, records that ended before that may have gone before older ones,
-- and nothing is proved.
--
-- requires: base
-- gives: all_kept

local SLACK = 1000 -- ms: clocks drift, and a number of `completed` past its limit may stand for a while
local DRIFT = 50 -- ms: within a call
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
