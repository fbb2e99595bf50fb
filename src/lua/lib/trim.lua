-- A step of maintain.lua: removes records of ended tasks that are too old or too many, or whose results have too many
-- bytes (lib/retention.lua).
--
-- requires: base, budget, first_time, retention, readers, result_blocks
-- gives: trim_ended

-- Handles one set of ended tasks: `completed`, `cancelled` or `dead`. age (ms), count: the limits, as keep_limits
-- returns them. Returns {count, more, due}; count: how many records were removed.
local function trim_set(P, now, set, max, age, count)
  local room = budget.room(set == 'completed' and 2 or 4, 25, max)
  local trimmed, all = trim_count(P, set, count, room, now)
  local due
  if age >= 0 then
    local ids = call('ZRANGEBYSCORE', P .. set, '-inf', text(now - age), 'LIMIT', 0, room)
    if #ids > 0 then
      all = readers.forget_first(P, set, ids, room) and all
      trimmed = trimmed + #ids
    end
    local oldest = first_time(P, set)
    due = oldest and oldest + age
  end
  budget.left = budget.left - trimmed
  return {count = trimmed, more = trimmed >= room or not all, due = due}
end

-- Keeps to the limit of the bytes of all results. Results of tasks that had ended before the limit was set are counted
-- first, in steps. Before that, result blocks are split into single results (lib/result_blocks.lua). Returns {count,
-- more}.
local function trim_results(P, now, bytes, max)
-- require: results
  local cursor, more = call('HGET', P .. 'result_sizes', '@'), false
  local in_blocks = call('EXISTS', P .. 'result_blocks') == 1
  if in_blocks then
    call('HDEL', P .. 'result_sizes', '@')
    cursor, in_blocks = nil, split_some_result_blocks(P, max)
    more = in_blocks
  end
  if not in_blocks and cursor ~= 'end' then
    local page = call('ZSCAN', P .. 'completed', cursor or '0', 'COUNT', budget.room(4, 25, max))
    for i = 1, #page[2], 2 do
      local id = page[2][i]
      local size = call('HSTRLEN', P .. 'results', id)
      if size > 0 and call('HEXISTS', P .. 'result_sizes', id) == 0 then count_results(P, {id, size}) end
    end
    more = more or page[1] ~= '0'
    call('HSET', P .. 'result_sizes', '@', page[1] == '0' and 'end' or page[1])
  end
  local trimmed, is_left = trim_bytes(P, bytes, max, now)
  return {count = trimmed, more = more or is_left}
end

-- Handles all sets. Calls take() with the table of each part. Returns how many records were removed.
local function trim_ended(P, now, settings, max, take)
  local age, count = keep_limits(settings.completed_age, settings.completed_count, DAY)
  local trimmed = take(trim_set(P, now, 'completed', max, age, count)).count
  trimmed = trimmed + take(trim_set(P, now, 'cancelled', max, age, count)).count
  if settings.completed_bytes then
    local bytes = number_of(settings.completed_bytes, 0) or LATEST
    trimmed = trimmed + take(trim_results(P, now, bytes, max)).count
  end
  age, count = keep_limits(settings.dead_age, settings.dead_count, 90 * DAY)
  return trimmed + take(trim_set(P, now, 'dead', max, age, count)).count
end
