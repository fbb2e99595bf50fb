-- Equal times in a sorted set: a member that is added later stands behind members with the same time, whatever the
-- names are. The score is the time in ms plus a fraction, the place within that ms, in steps of 1 / PLACES. A double
-- represents it exactly up to the year 2109; later, members with equal times are in the order of their names.
--
-- requires: base
-- gives: add_behind, exact, score_behind

local PLACES = @PLACES@

local function exact(score)
  return string.format('%.17g', score)
end

-- Returns the last used place of a ms, or nil; and whether it is the last one of that ms.
local function last_place(key, time)
  local last = call('ZREVRANGEBYSCORE', key, '(' .. exact(time + 1), exact(time), 'WITHSCORES', 'LIMIT', 0, 1)[2]
  last = tonumber(last)
  return last, last and last + 1 / PLACES >= time + 1
end

-- Returns the next place. If the ms is full, it is in a later one. That is found by a binary search, because many ms in
-- a row may be full.
local function score_behind(key, time)
  local last, full = last_place(key, time)
  if full then
    local low, width = time, 1
    while select(2, last_place(key, time + width)) do low, width = time + width, 2 * width end
    local high = time + width
    while high - low > 1 do
      local middle = math.floor((low + high) / 2)
      if select(2, last_place(key, middle)) then low = middle else high = middle end
    end
    time, last = high, (last_place(key, high))
  end
  return last and last + 1 / PLACES or time
end

-- Adds members behind those with equal times. list: time, member, time, member, ...
local function add_behind(key, list)
  local scores, given, n = {}, {}, 0
  for i = 1, #list, 2 do
    local time = list[i]
    local score = given[time] and given[time] + 1 / PLACES
    if not score or score % 1 == 0 then
      if score then
        call('ZADD', key, unpack(scores))
        scores, given, n = {}, {}, 0
      end
      score = score_behind(key, time)
    end
    given[time], scores[n + 1], scores[n + 2], n = score, exact(score), list[i + 1], n + 2
  end
  call('ZADD', key, unpack(scores))
end
