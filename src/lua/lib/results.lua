-- Results of completed tasks, and the sum of their bytes, if the setting completed_bytes limits it.
--
--   results       hash  id -> result, of completed tasks that left one; "+<ms>" -> a result block
--                       (lib/result_block.lua)
--   settings completed_bytes  how many at most
--   result_sizes  hash  id -> bytes of its result; # -> their sum; @ -> how far those are counted that had ended before
--                       it was said: a cursor, or "end"
--
-- `forget` in lib/retention.lua removes results.
--
-- requires: add_to, base, retention, readers
-- gives: count_results, keep_results, trim_bytes

-- Adds the bytes of results to the sum. sizes: id, bytes, ...
local function count_results(P, sizes)
  local sum = 0
  for i = 2, #sizes, 2 do
    sum, sizes[i] = sum + sizes[i], text(sizes[i])
  end
  call('HSET', P .. 'result_sizes', unpack(sizes))
  add_to(P .. 'result_sizes', '#', sum)
end

-- Stores the results of tasks; results: id -> result. is_counted: their bytes are added to the sum. Returns whether any
-- was added.
local function keep_results(P, ids, results, is_counted)
  local fields, sizes, n = {}, {}, 0
  for i = 1, #ids do
    local result = results[ids[i]]
    if result then
      fields[n + 1], fields[n + 2] = ids[i], result
      sizes[n + 1], sizes[n + 2] = ids[i], #result
      n = n + 2
    end
  end
  if n == 0 then return false end
  call('HSET', P .. 'results', unpack(fields))
  if is_counted then count_results(P, sizes) end
  return is_counted
end

-- Removes the oldest records until their results keep to the limit, at most `most`. Returns how many, and whether there
-- are still too many bytes. As in trim_count, tasks that ended before the clock was set back are removed first.
local function trim_bytes(P, limit, most, now)
  local total = tonumber(call('HGET', P .. 'result_sizes', '#')) or 0
  -- Returns how many of these tasks, the first ones, have to be removed.
  local function enough(ids)
    local sizes, n = call('HMGET', P .. 'result_sizes', unpack(ids)), 0
    while n < #ids and total > limit do
      n = n + 1
      total = total - count_of(sizes[n])
    end
    return n
  end
  if total <= limit then return 0, false end
  local trimmed, all, ahead = 0, true, readers.ahead(P, 'completed', now, most)
  if #ahead > 0 then
    local ids = {}
    for i = 1, #ahead, 2 do ids[#ids + 1] = ahead[i] end
    trimmed, all = readers.forget_ahead(P, 'completed', {unpack(ahead, 1, 2 * enough(ids))}, most)
  end
  local ids = all and trimmed < most and total > limit and call('ZRANGE', P .. 'completed', 0, most - trimmed - 1) or {}
  if #ids > 0 then
    for i = #ids, enough(ids) + 1, -1 do ids[i] = nil end
    all = readers.forget_first(P, 'completed', ids, most)
  elseif trimmed == 0 then
    return 0, false
  end
  return trimmed + #ids, not all or total > limit
end
