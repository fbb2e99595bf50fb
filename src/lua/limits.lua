#!lua flags=no-writes
-- limits: the limits of a queue and how they stand.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how many groups to skip, ARGV[2] how many to tell of, at most 1000
-- reply    [1] now in ms
--          [2] {concurrency, rate, hold, group_concurrency, group_rate, on_dead, policy, group_strict}, "" where there is none
--          [3] how many tasks run and are counted, or -1
--          [4] how many groups have limits, holds or parked tasks of their own
--          [5...] for each of these, by name: {group, its own concurrency or "", its own rate or "", hold in ms or "",
--              running, parked, "1" or "0" if it says itself whether it is strict, else ""}
--
-- Sent twice: it only reads.
-- include: lib/base.lua

local P, skip, most = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2])
local s = call('HMGET', P .. 'settings', 'concurrency', 'rate', 'hold', 'group_concurrency', 'group_rate', 'on_dead',
  'policy', 'group_strict')
for i = 1, 8 do s[i] = s[i] or '' end

local names, known = {}, {}
local function add(group)
  if not known[group] then
    known[group] = true
    names[#names + 1] = group
  end
end
for _, field in ipairs(call('HKEYS', P .. 'limits')) do add(sub(field, 3)) end
for _, key in ipairs({'holds', 'opening', 'reopening'}) do
  for _, group in ipairs(call('ZRANGE', P .. key, 0, 9999)) do add(group) end
end
table.sort(names)

local now = clock()
local reply = {now, s, tonumber(call('HGET', P .. 'gate', 'running')) or -1, #names}
for i = skip + 1, math.min(#names, skip + most) do
  local group = names[i]
  local own = call('HMGET', P .. 'limits', 'c:' .. group, 'r:' .. group, 's:' .. group)
  local hold = tonumber(call('ZSCORE', P .. 'holds', group))
  reply[#reply + 1] = {group, own[1] or '', own[2] and (own[2] == '' and '0' or own[2]) or '',
    hold and hold > now and text(hold) or '', tonumber(call('HGET', P .. 'taken', group)) or 0,
    call('ZCARD', P .. 'parked:' .. group), own[3] or ''}
end
return reply
