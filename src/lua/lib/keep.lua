-- Retention: completed and cancelled tasks by one setting, dead ones by another. Counts are kept to at every end of a
-- task (of completed ones, turn.lua lets a part in 64 more stand for a while), ages by tend.lua. A limit of -1 is none; 0
-- keeps nothing.
-- include: lib/tags.lua
local DAY = 86400000
local function keep_limits(age, count, default_age)
  return tonumber(age) or default_age, tonumber(count) or 10000
end

-- A dead task leaves the index of failures.
local function unindex(P, id)
  local kind = call('HGET', P .. 'info:' .. id, 'kind')
  if kind and call('ZREM', P .. 'failures:' .. kind, id) == 1 and call('EXISTS', P .. 'failures:' .. kind) == 0 then
    call('ZREM', P .. 'failures', kind)
  end
end

-- Removes all that is left of ended tasks; set: where they stood.
local function forget(P, ids, set)
  local infos = {}
  for i = 1, #ids do
    if set == 'dead' then unindex(P, ids[i]) end
    infos[i] = P .. 'info:' .. ids[i]
  end
  forget_tags(P, ids)
  call('HDEL', P .. 'tasks', unpack(ids))
  call('UNLINK', unpack(infos))
end

-- Removes the oldest of a set of ended tasks past its count: at most `most` of them now.
local function trim_count(P, set, count, most)
  if count < 0 then return 0 end
  local excess = call('ZCARD', P .. set) - count
  if excess <= 0 then return 0 end
  local ids = call('ZRANGE', P .. set, 0, math.min(excess, most) - 1)
  call('ZREMRANGEBYRANK', P .. set, 0, #ids - 1)
  forget(P, ids, set)
  return #ids
end
