-- Retention: how long, and how many, records of ended tasks are kept. Completed and cancelled tasks have the settings
-- completed_age and completed_count, dead tasks dead_age and dead_count. -1: no limit; 0: no records are kept. The
-- counts are enforced whenever a task ends (turn.lua allows a 64th more completed tasks for a while), the ages by
-- maintain.lua. The bytes of results are counted only if they are limited (lib/results.lua).
--
--   completed_extra  set  ids of completed tasks that have an info:<id> or parents:<id>
--
-- requires: base, result_blocks, readers, tags, transitions
-- gives: DAY, forget, forget_told, keep_limits, readers.ahead, readers.forget, readers.forget_ahead
-- gives: readers.forget_first, readers.keep_edges, serial, trim_count, unindex
-- fields: ahead, forget, forget_ahead, forget_first, forget_some, keep_edges

local DAY = @ONE_DAY_MS@
-- Returns the limits from two settings: the age in ms, and the count.
local function keep_limits(age, count, default_age)
  return age and number_of(age, -1) or default_age, count and number_of(count, -1) or 10000
end

-- Removes a dead task from the index of failures.
local function unindex(P, id)
  local kind = call('HGET', P .. 'info:' .. id, 'kind')
  if kind and call('ZREM', P .. 'failures:' .. kind, id) == 1 and call('EXISTS', P .. 'failures:' .. kind) == 0 then
    call('ZREM', P .. 'failures', kind)
  end
end

-- Returns a new serial number, as text. Messages, edges and sets of children have such numbers. They always grow: each
-- is at least the time in us. So they grow even if the queue lost the last number, because it was emptied, or a replica
-- that did not have it became the master.
local serial
do
  local least
  function serial(P)
    if not least then
      local time = call('TIME')
      least = time[1] * 1000000 + time[2]
    end
    local last = tonumber(call('HGET', P .. 'settings', 'serial')) or 0
    local number = text(max(min(last, LATEST - 1) + 1, least))
    call('HSET', P .. 'settings', 'serial', number)
    return number
  end
end

-- Records are about to be removed, perhaps as soon as the tasks died. Their children that still wait for a retry are
-- notified that the tasks were deleted.
local function forsake(P, ids)
  for _, id in ipairs(ids) do
    local linked = call('SREM', P .. 'linked', id) == 1
    for _, set in ipairs({P .. 'children:' .. id, P .. 'awaiting_retry:' .. id}) do
      if linked and call('EXISTS', set) == 1 then
        local n = serial(P)
        call('RENAME', set, P .. 'fanout:' .. n)
        call('RPUSH', P .. 'fanout', n .. ' deleted ' .. id)
        announce_due(P, clock())
      end
    end
  end
end

-- Removes results. trimmed: the tasks were the oldest of `completed`.
local function forget_results(P, ids, trimmed)
  if trimmed and sweep_result_blocks(P, #ids) then return end
  if call('HDEL', P .. 'results', unpack(ids)) > 0 then readers.uncount(P, ids) end
end

-- A task with many parents may still be removed from them in steps (lib/dependency_edges.lua). The steps need its
-- edges, so these are renamed and stay until that is done.
function readers.keep_edges(P, ids)
  if #ids == 0 or call('EXISTS', P .. 'fanout', P .. 'fanout_far') == 0 then return end
  for i = 1, #ids do
    local key, count = P .. 'parents:' .. ids[i], redis.pcall('HLEN', P .. 'parents:' .. ids[i])
    if type(count) == 'number' and count > 64 then
      local name = 'fanout:' .. serial(P)
      call('RENAME', key, P .. name)
      call('RPUSH', P .. 'fanout', name .. ' unlink ' .. ids[i] .. ' 0')
      announce_due(P, clock())
    end
  end
end

-- Removes info:<id> and parents:<id> of these tasks.
local function forget_told(P, ids)
  local keys, n = {}, 0
  for i = 1, #ids do
    keys[n + 1], keys[n + 2], n = P .. 'info:' .. ids[i], P .. 'parents:' .. ids[i], n + 2
  end
  if n > 0 then call('UNLINK', unpack(keys)) end
end

-- Removes these tasks from `completed_extra`. Returns those that were in it.
local function leave_completed_extra(P, ids)
  if call('EXISTS', P .. 'completed_extra') == 0 then return {} end
  local there, extra = call('SMISMEMBER', P .. 'completed_extra', unpack(ids)), {}
  for i = 1, #ids do
    if there[i] == 1 then extra[#extra + 1] = ids[i] end
  end
  if #extra > 0 then call('SREM', P .. 'completed_extra', unpack(extra)) end
  return extra
end

-- Removes all keys and fields of ended tasks. set: the set from which the caller has removed them, or nil. If it is
-- given, they are not in the index of tags any more. ahead: true if set is "completed" and they were not the oldest of
-- it.
local function forget(P, ids, set, ahead)
  local extra, completed = {}, set == 'completed'
  -- One command instead of one for each.
  if call('EXISTS', P .. 'tags', P .. 'results', P .. 'completed_extra', P .. 'read', P .. 'fanout', P .. 'fanout_far') > 0 then
    readers.drop(P, ids)
    if not set then forget_tags(P, ids) end
    forget_results(P, ids, completed and not ahead)
    extra = leave_completed_extra(P, ids)
    readers.keep_edges(P, completed and extra or ids)
  end
  if set == 'dead' then
    for i = 1, #ids do unindex(P, ids[i]) end
  end
  call('HDEL', P .. 'tasks', unpack(ids))
  -- Most completed tasks have neither key.
  forget_told(P, completed and extra or ids)
  -- Their children may have waited for a retry, which is not possible any more.
  if set and not completed and call('EXISTS', P .. 'linked') == 1 then forsake(P, ids) end
end

readers.forget = forget

-- Removes the records of the first of `ids`, tasks of a set of ended tasks. Their number is limited, because each may
-- have many tags; the others are removed from `ids`. leave: removes the tasks of `ids` from the set. Returns whether
-- these were all.
function readers.forget_some(P, set, ids, most, ahead, leave)
  local found, n = tags_of(P, ids, 200 + most / 2)
  local all = n == #ids
  for i = #ids, n + 1, -1 do ids[i] = nil end
  local free = set == 'completed' and readers.spare(P, ids) or ids
  leave()
  if #free > 0 then
    if found then forget_tags(P, free, found) end
    forget(P, free, set, ahead)
  end
  return all
end

-- The same; the tasks are the first ones of the set.
function readers.forget_first(P, set, ids, most)
  return readers.forget_some(P, set, ids, most, false, function()
    leave_ended_first(P, set, #ids)
  end)
end

-- The same; the tasks may be anywhere in the set. found: id, score, ... Returns how many were removed, and whether
-- these were all.
function readers.forget_ahead(P, set, found, most)
  local ids = {}
  for i = 1, #found, 2 do ids[#ids + 1] = found[i] end
  local all = readers.forget_some(P, set, ids, most, true, function()
    leave_ended(P, set, ids)
    for i = 2, set == 'completed' and 2 * #ids or 0, 2 do
      if found[i] ~= found[i - 2] then leave_result_block(P, found[i]) end
    end
  end)
  return #ids, all
end

-- Returns members of a set whose times are later than now, at most `most`: id, score, ... Such times exist after the
-- clock was set back.
function readers.ahead(P, set, now, most)
  local newest = call('ZRANGE', P .. set, -1, -1, 'WITHSCORES')[2]
  if not newest or tonumber(newest) <= now then return {} end
  return call('ZRANGEBYSCORE', P .. set, '(' .. text(now), '+inf', 'WITHSCORES', 'LIMIT', 0, most)
end

-- Removes the oldest records of a set that exceeds its maximum count, at most `most`. Returns how many, and whether
-- none of these was left because of many tags. calls: if one was left, a notice asks for maintenance now. Tasks with a
-- time later than now ended before the clock was set back. They are removed first; otherwise new records, with earlier
-- times, would be removed as soon as they are written.
local function trim_count(P, set, count, most, now, calls)
  if count < 0 then return 0, true end
  local excess, trimmed, all = min(call('ZCARD', P .. set) - count, most), 0, true
  if excess <= 0 then return 0, true end
  local ahead = readers.ahead(P, set, now, excess)
  if #ahead > 0 then trimmed, all = readers.forget_ahead(P, set, ahead, most) end
  if all and trimmed < excess then
    local ids = call('ZRANGE', P .. set, 0, excess - trimmed - 1)
    all = readers.forget_first(P, set, ids, most)
    trimmed = trimmed + #ids
  end
  if calls and not all then announce_due(P, now) end
  return trimmed, all
end
