#!lua flags=no-writes
-- limits: the limits of a queue and how they stand.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many groups to skip, or where to go on ([5]); ARGV[2] how many to list, at most 1000
-- reply    [1] now in ms
--          [2] {concurrency, rate, paused_until, group_concurrency, group_rate, on_dead, policy, group_strict}, ""
--              where there is none
--          [3] how many tasks run and are counted, or -1
--          [4] how many groups have limits, pauses or parked tasks of their own; where they are many (below), at most
--              so many
--          [5] where to go on, or 0: there are no more
--          [6...] for each of these: {group, its own concurrency or "", its own rate or "", paused until (ms) or "",
--              running, parked, "1" or "0" if it says itself whether it is strict, else ""}
--
-- Groups come by name. Where they are many (FEW), those with limits of their own come first, by name, then the others
-- with pauses, then the others with parked tasks, by time; a page may then have less than it could, also none.
--
-- Sent twice: it only reads.
-- require: base, absent, whole

local P, skip, most = KEYS[1], whole(ARGV[1], 0, LATEST), whole(ARGV[2], 0, LATEST)
if not P or not skip or not most then
  return redis.error_reply('ERR @NAME@: ARGV[1] and ARGV[2] are how many to skip and to tell of')
end
most = math.min(most, @CALL_MAX@)
local FEW, PAGE = 1500, 500
local SOURCES = {'limited', 'paused_groups', 'limit_due', 'limit_dirty'}

local s = call('HMGET', P .. 'settings', 'concurrency', 'rate', 'paused_until', 'group_concurrency', 'group_rate', 'on_dead',
  'policy', 'group_strict')
for i = 1, 8 do s[i] = s[i] or '' end

-- Returns names, where to go on, and how many groups there are.
local function few_names()
  local names, known, page = {}, {}, {}
  local function add(group)
    if not known[group] then
      known[group] = true
      names[#names + 1] = group
    end
  end
  for _, field in ipairs(call('HKEYS', P .. 'limits')) do add(sub(field, 3)) end
  for i = 2, #SOURCES do
    for _, group in ipairs(call('ZRANGE', P .. SOURCES[i], 0, -1)) do add(group) end
  end
  table.sort(names)
  for i = skip + 1, math.min(#names, skip + most) do page[#page + 1] = names[i] end
  return page, skip + most < #names and skip + most or 0, #names
end

-- Those of these members of a source that stand in none of the sources before it.
local function first_here(source, groups)
  local seen = {}
  for i = 1, source - 1 do
    for j, score in ipairs(call('ZMSCORE', P .. SOURCES[i], unpack(groups))) do seen[j] = seen[j] or score end
  end
  local new = {}
  for i = 1, #groups do
    if not seen[i] then new[#new + 1] = groups[i] end
  end
  return new
end

-- The same, by places in all the sources, one behind the other.
local function many_names(sizes)
  local page, at, before, looked = {}, skip, 0, 0
  for source = 1, #SOURCES do
    while at < before + sizes[source] and #page < most and looked < 2 * PAGE do
      local count = math.min(most - #page, PAGE)
      local groups = call('ZRANGE', P .. SOURCES[source], text(at - before), text(at - before + count - 1))
      for _, group in ipairs(first_here(source, groups)) do page[#page + 1] = group end
      at, looked = math.min(at + count, before + sizes[source]), looked + count
    end
    before = before + sizes[source]
  end
  return page, at < before and at or 0, before
end

local sizes, all = {}, call('HLEN', P .. 'limits')
for i = 1, #SOURCES do
  sizes[i] = call('ZCARD', P .. SOURCES[i])
  if i > 1 then all = all + sizes[i] end
end
local names, next_place, total
if all <= FEW then names, next_place, total = few_names() else names, next_place, total = many_names(sizes) end

local now = clock()
local reply = {now, s, tonumber(call('HGET', P .. 'limit_state', 'running')) or -1, total, next_place}
local function tell(first, last)
  local fields = {}
  for i = first, last do
    for _, letter in ipairs({'c:', 'r:', 's:'}) do fields[#fields + 1] = letter .. names[i] end
  end
  local own, pauses = call('HMGET', P .. 'limits', unpack(fields)), call('ZMSCORE', P .. 'paused_groups', unpack(names, first, last))
  local taken = call('HMGET', P .. 'group_running', unpack(names, first, last))
  for i = first, last do
    local at, ends = 3 * (i - first), number_of(pauses[i - first + 1], 0)
    local rate = own[at + 2]
    reply[#reply + 1] = {names[i], own[at + 1] or '', rate and (rate == '' and '0' or rate) or '',
      ends and ends > now and text(ends) or '', tonumber(taken[i - first + 1]) or 0,
      call('ZCARD', P .. 'parked:' .. names[i]), own[at + 3] or ''}
  end
end
for first = 1, #names, PAGE do tell(first, math.min(first + PAGE - 1, #names)) end
return reply
