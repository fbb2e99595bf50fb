-- Proof that no task which ended within the last `elapsed` ms has lost its record: neither of those that completed or were
-- cancelled nor of those that died. (But for records that somebody deleted.) Bounded: a few commands.
local SLACK = 1000 -- ms: clocks drift, and a number of `completed` past its limit may stand for a while
local function all_kept(P, now, elapsed)
  local s = call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'dead_age', 'dead_count', 'completed_bytes')
  local since = now - elapsed - SLACK
  local function keeps(set, age, count, bytes)
    age, count = tonumber(age) or 86400000, tonumber(count) or 10000
    if age >= 0 and age <= elapsed + SLACK or count == 0 then return false end
    local oldest = call('ZRANGE', P .. set, 0, 0, 'WITHSCORES')
    if oldest[2] and tonumber(oldest[2]) < since then return true end
    return (count < 0 or call('ZCARD', P .. set) < count) and not bytes
  end
  return keeps('completed', s[1], s[2], tonumber(s[5]) and tonumber(s[5]) > 0) and keeps('cancelled', s[1], s[2]) and
    keeps('dead', s[3], s[4])
end
