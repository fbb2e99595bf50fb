-- The common path of settling: plain completions of a queue in which nobody waits for the end of a task, and neither
-- limits nor events are on. lib/settle.lua has the careful path, for everything else ("Two paths" in turn.lua).
--
-- requires: shortcuts, transitions_plain, turn_settings
-- gives: count_completed, keep_completed, take_completed

-- Removes the tasks from the session's hash, and returns how many were there. That settles them: an id that was not
-- there is refused. Returns false, and changes nothing, if the careful path is needed: a lease is named, somebody waits
-- for the end of a task, limits or events are on, the bytes of results are limited, or results came in a queue that
-- keeps none.
local function take_completed(given, running, lease, first, count, settings, results) -- inline
  if lease ~= '' or settings[WAITERS] or settings[IN_FORCE] or
    results > 0 and (settings[KEEP_BYTES] or settings[KEEP_AGE] == '0' or settings[KEEP_COUNT] == '0') then
    return false
  end
  if count == 1 then return leave_running_one(call, running, given[first]) end
  return leave_running_all(call, running, given, first, first + count - 1)
end

-- Stores the results of one call, which came in one argument, as a result block (lib/result_block.lua). If an earlier
-- call of the same ms stored a block, they are appended to that.
local function keep_block(P, block, now) -- inline
  local field = '+' .. now
  if call('HSETNX', P .. 'results', field, block) == 1 then
    call('ZADD', P .. 'result_blocks', now, now)
  else
    call('HSET', P .. 'results', field, call('HGET', P .. 'results', field) .. block)
  end
end

-- Stores results that came as one argument for each of the last `results` tasks.
local function keep_single_results(P, given, last, results, at) -- inline
  local fields, n = {}, 0
  for i = 0, results - 1 do
    fields[n + 1], fields[n + 2], n = given[last - results + 1 + i], given[at + i], n + 2
  end
  call('HSET', P .. 'results', unpack(fields))
end

-- Moves the tasks to `completed`, with their results, whose arguments begin at `at`. In a queue that keeps no completed
-- tasks it removes them from `tasks` and returns false; maintain.lua removes their tags.
local function keep_completed(P, given, first, count, results, is_block, at, settings, now) -- inline
  local last = first + count - 1
  if settings[KEEP_AGE] == '0' or settings[KEEP_COUNT] == '0' then
    if count == 1 then
      call('HDEL', P .. 'tasks', given[first])
    else
      call('HDEL', P .. 'tasks', unpack(given, first, last))
    end
    return false
  end
  if is_block then
    keep_block(P, given[at], now)
  elseif results > 0 then
    keep_single_results(P, given, last, results, at)
  end
  if count == 1 then
    enter_completed_one(call, P, given[first], now)
    return true
  end
  local members, n = {}, 0
  for i = first, last do
    members[n + 1] = now
    n = n + 2
    members[n] = given[i]
  end
  enter_completed_all(call, P, members)
  return true
end

-- Counts completed tasks. Returns whether some are to be trimmed. If the queue keeps them, ZCARD is called each time
-- that 1/128 of the kept number has completed, and tasks are trimmed if there are 1/128 more than that number. So there
-- may be 1/64 more for a time, and what one call settles. If another program overwrote the counter, ZCARD is called
-- each time.
local function count_completed(P, count, is_kept, settings) -- inline
  local counted = redis.pcall('HINCRBY', P .. 'counters', 'completed', count == 1 and '1' or format('%d', count))
  local most = is_kept and (tonumber(settings[KEEP_COUNT]) or 10000) or 0
  return most > 0 and (type(counted) ~= 'number' or counted % (most / 128) < count) and
    call('ZCARD', P .. 'completed') > most + most / 128
end
