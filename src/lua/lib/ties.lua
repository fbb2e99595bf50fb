-- Equal times: what comes to a sorted set at a time stands behind what is there of that time, whatever their names are.
-- A score is the time in ms and, behind its point, the place among those of that ms, in steps of 1 / PLACES, which a
-- double holds exactly up to the year 2109. (After that equal ones come in the order of their names.)
--
-- requires: base
-- gives: add_behind, exact, score_behind

local PLACES = @PLACES@

local function exact(score)
  return string.format('%.17g', score)
end

-- The last place that is taken of a ms, or nil; and whether it is the last that there is.
local function last_place(key, time)
  local last = call('ZREVRANGEBYSCORE', key, '(' .. exact(time + 1), exact(time), 'WITHSCORES', 'LIMIT', 0, 1)[2]
  last = tonumber(last)
  return last, last and last + 1 / PLACES >= time + 1
end

-- The next place. Where a ms is full it is in one that follows: found by halves, for all before it may be full, too.
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

-- list: time, member, time, member, ...
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
