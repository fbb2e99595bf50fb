-- Completed tasks kept by how many bytes their results have together, where a queue says so. Needs base, keep.
--
--   settings completed_bytes   how many at most
--   results  hash  id -> bytes of its result, of completed tasks; # -> their sum; @ -> how far those are counted that
--                  had ended before it was said: a cursor, or "end". forget in lib/keep.lua takes away what goes.
local function count_result(P, id, bytes)
  call('HSET', P .. 'results', id, text(bytes))
  call('HINCRBY', P .. 'results', '#', text(bytes))
end

-- The oldest go, at most `most` of them now. Returns how many, and whether there are too many bytes still.
local function trim_bytes(P, limit, most)
  local total = tonumber(call('HGET', P .. 'results', '#')) or 0
  if total <= limit then return 0, false end
  local ids, n = call('ZRANGE', P .. 'completed', 0, most - 1), 0
  if #ids == 0 then return 0, false end
  local sizes = call('HMGET', P .. 'results', unpack(ids))
  while n < #ids and total > limit do
    n = n + 1
    total = total - (tonumber(sizes[n]) or 0)
  end
  for i = #ids, n + 1, -1 do ids[i] = nil end
  call('ZREMRANGEBYRANK', P .. 'completed', 0, n - 1)
  forget(P, ids, 'completed')
  return n, total > limit
end
