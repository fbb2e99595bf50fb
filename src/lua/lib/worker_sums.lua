-- The sums that a worker adds to the statistics of a day and of a minute (docs/protocol.md), in the arguments of
-- heartbeat.lua.
--
-- requires: whole
-- gives: add_sums, are_sums

-- Arguments that one kind of error and one type take.
local PER_KIND, PER_TYPE = 3, 12

-- given: ARGV of heartbeat.lua. Returns where the sums of kinds and of types begin, or nil: these are no sums.
local function are_sums(given)
  local MAX, count, kind_count = @LATEST@, whole(given[5], 0, 4000), whole(given[6], 0, 1000)
  if not whole(given[3], 0, MAX) or not whole(given[4], 0, 100000000) or not count or not kind_count then return nil end
  local kinds = 7 + 2 * count
  local types = kinds + PER_KIND * kind_count
  if #given < types - 1 or (#given - types + 1) % PER_TYPE ~= 0 then return nil end
  for i = 8, kinds - 1, 2 do
    if not whole(given[i], -MAX, MAX) then return nil end
  end
  for i = kinds, #given do
    local is_name = i < types and (i - kinds) % PER_KIND == 0 or i >= types and (i - types) % PER_TYPE == 0
    if not is_name and not whole(given[i], 0, MAX) then return nil end
  end
  return kinds, types
end

-- A day has a limited number of kinds: those beyond it count as the kind "".
local function add_kind(key, kind, retried, dead)
  local call = redis.pcall
  local known = call('HMGET', key, 'retried:' .. kind, 'dead:' .. kind, 'kinds')
  if not known[1] and not known[2] and kind ~= '' then
    if (tonumber(known[3]) or 0) >= @ERROR_KINDS_MAX@ then
      kind = ''
    else
      call('HINCRBY', key, 'kinds', 1)
    end
  end
  if retried ~= '0' then call('HINCRBY', key, 'retried:' .. kind, retried) end
  if dead ~= '0' then call('HINCRBY', key, 'dead:' .. kind, dead) end
end

-- The numbers in a text, `min` to `max` of them, or nil: it is none that this module wrote.
local function read_numbers(known, min, max)
  local numbers = {}
  for word in string.gmatch(type(known) == 'string' and known or '', '%S+') do
    local number = whole(word, 0, @LATEST@)
    if not number then return nil end
    numbers[#numbers + 1] = number
  end
  return #numbers >= min and #numbers <= (max or min) and numbers or nil
end

local function write_numbers(numbers)
  for i = 1, #numbers do numbers[i] = string.format('%d', math.min(numbers[i], @LATEST@)) end
  return table.concat(numbers, ' ')
end

-- Adds a range, which is a count, a sum, a minimum and a maximum, to that which begins at `at` of `known`.
local function add_range(known, at, count, sum, min, max)
  if count == 0 then return end
  known[at + 2] = known[at] == 0 and min or math.min(known[at + 2], min)
  known[at + 3] = math.max(known[at + 3], max)
  known[at], known[at + 1] = known[at] + count, known[at + 1] + sum
end

-- Adds the numbers of a type: completed, failed, dead, and the ranges of waits and runs. A day has a limited number of
-- types: those beyond it count as the type "".
local function add_type(key, given, at)
  local call, name, numbers = redis.pcall, given[at], {}
  for i = 1, PER_TYPE - 1 do numbers[i] = tonumber(given[at + i]) end
  local known = call('HMGET', key, 'type:' .. name, 'types')
  if not known[1] and name ~= '' then
    if (tonumber(known[2]) or 0) >= @DAY_TYPES_MAX@ then
      name = ''
      known = call('HMGET', key, 'type:')
    else
      call('HINCRBY', key, 'types', 1)
    end
  end
  local sums = read_numbers(known[1], PER_TYPE - 1)
  if sums then
    for i = 1, 3 do sums[i] = sums[i] + numbers[i] end
    add_range(sums, 4, unpack(numbers, 4, 7))
    add_range(sums, 8, unpack(numbers, 8, 11))
  end
  call('HSET', key, 'type:' .. name, write_numbers(sums or numbers))
end

-- What a worker tells is added, or it is the least or the most of a day.
local function add_field(key, name, value)
  local call = redis.pcall
  local ends = string.sub(name, -4)
  if ends ~= ':min' and ends ~= ':max' then
    call('HINCRBY', key, name, value)
    return
  end
  local known, number = tonumber(call('HGET', key, name) or ''), tonumber(value)
  if not known or ends == ':min' and number < known or ends == ':max' and number > known then call('HSET', key, name, value) end
end

-- A histogram of five minutes has fewer and wider buckets than that of a day. Each begins with this bucket of a day: those
-- below a second, then those of 1, 2, 5, 10, 20 and 30 seconds, the same minutes, 1, 2, 5 and 12 hours, 1, 2 and 7 days.
local WIDE = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 19, 29, 39, 69, 70, 73, 78, 88, 98, 128, 129, 132, 139, 151, 152, 157}

-- Adds the times of this name, `wait` or `run`, to a text: their sum, then how many are in each wide bucket, up to the
-- last one that has any.
local function add_times(known, given, kinds, name)
  local numbers, pattern = read_numbers(known, 1, 1 + #WIDE) or {0}, '^' .. name .. ':(%d+)$'
  for i = 7, kinds - 1, 2 do
    local number = math.max(tonumber(given[i + 1]), 0)
    local bucket = whole(string.match(given[i], pattern), 0, 249)
    if bucket and number > 0 then
      local at = #WIDE
      while WIDE[at] > bucket do at = at - 1 end
      for empty = #numbers + 1, at + 1 do numbers[empty] = 0 end
      numbers[at + 1] = numbers[at + 1] + number
    elseif given[i] == name .. ':sum' then
      numbers[1] = numbers[1] + number
    end
  end
  return write_numbers(numbers)
end

-- What is kept of each minute of the last day: the hash of an hour has a field for each of its minutes. Also the times of
-- each five minutes, in two fields: the histograms of all minutes would make the hash twice as large.
local MINUTE_FIELDS = {'completed', 'failed', 'dead', 'wait:count', 'wait:sum', 'run:count', 'run:sum'}
local function add_minute(P, now, given, kinds, said)
  local call = redis.pcall
  local minute = math.floor(now / 60000)
  local key, field = P .. 'minutes:' .. string.format('%d', minute / 60), string.format('%d', minute % 60)
  local five = string.format(':%d', minute % 60 / 5)
  local known = call('HMGET', key, field, 'wait' .. five, 'run' .. five)
  local sums = read_numbers(known[1], #MINUTE_FIELDS)
  local numbers = {}
  for i, name in ipairs(MINUTE_FIELDS) do numbers[i] = math.max(tonumber(said[name]) or 0, 0) + (sums and sums[i] or 0) end
  local fields = {field, write_numbers(numbers)}
  for i, name in ipairs({'wait', 'run'}) do
    if (tonumber(said[name .. ':count']) or 0) > 0 then
      fields[#fields + 1] = name .. five
      fields[#fields + 1] = add_times(known[i + 1], given, kinds, name)
    end
  end
  call('HSET', key, unpack(fields))
  if not sums then call('EXPIREAT', key, string.format('%d', (math.floor(minute / 60) + 26) * 3600)) end
end

-- kinds, types: as from are_sums; now: ms. A field may hold no number, if another program wrote it: that sum is not
-- added, and all else is.
local function add_sums(P, given, kinds, types, now)
  local call = redis.pcall
  local days = tonumber(call('HGET', P .. 'settings', 'stats_days')) or 30
  if days <= 0 then return end
  local key, said = P .. 'stats:' .. given[4], {}
  for i = 7, kinds - 1, 2 do
    add_field(key, given[i], given[i + 1])
    said[given[i]] = given[i + 1]
  end
  for i = kinds, types - 1, PER_KIND do add_kind(key, given[i], given[i + 1], given[i + 2]) end
  for i = types, #given, PER_TYPE do add_type(key, given, i) end
  call('EXPIREAT', key, string.format('%d', (given[4] + 1 + days) * 86400))
  add_minute(P, now, given, kinds, said)
end
