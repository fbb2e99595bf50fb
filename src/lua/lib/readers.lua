-- Readers: tasks that waited for a completed task may read its record and result. Until they have ended, the record is
-- kept, whatever the retention is. The keys of the reading tasks are described in lib/reads.lua.
--
--   readers:<id>  zset  of a completed task: handles of the tasks that may read it -> 0, or, of those in other queues,
--                       the number of the message that registered the edge; "#<n>": some of those in fanout:<n> will;
--                       "@": the task has a retention of its own, which is a reader until it is over
--   read          set   ids of such tasks
--   retained      zset  ids of those that are past the retention of the queue -> when they ended
--   keep_until    zset  ids of tasks with a retention of their own -> until when they are kept
--
-- The functions are members of a table, because Lua allows 200 local names in a function.
--
-- requires: add_to, base, result_blocks, transitions
-- gives: readers, readers.add, readers.count_of, readers.drop, readers.hold, readers.keep, readers.spare
-- gives: readers.uncount, readers.unhold
-- fields: count_of, hold, retain, spare, uncount, unhold

local readers = {}

-- Adds readers of a record. found: number, handle, ...
function readers.add(P, id, found)
  if #found == 0 then return end
  call('ZADD', P .. 'readers:' .. id, 'GT', unpack(found))
  call('SADD', P .. 'read', id)
end

-- Gives a record a retention of its own: it is kept until the time `ends`, in ms.
function readers.hold(P, id, ends)
  call('ZADD', P .. 'readers:' .. id, '0', '@')
  call('SADD', P .. 'read', id)
  call('ZADD', P .. 'keep_until', text(min(ends, LATEST)), id)
  announce_due(P, ends)
end

-- Removes the retention of its own. Returns true if the record has readers.
function readers.unhold(P, id)
  call('ZREM', P .. 'keep_until', id)
  call('ZREM', P .. 'readers:' .. id, '@')
  if call('EXISTS', P .. 'readers:' .. id) == 1 then return true end
  call('SREM', P .. 'read', id)
end

-- The number of tasks that may read a record.
function readers.count_of(P, id)
  if call('SISMEMBER', P .. 'read', id) == 0 then return 0 end
  return call('ZCARD', P .. 'readers:' .. id) - (call('ZSCORE', P .. 'readers:' .. id, '@') and 1 or 0)
end

-- These records are removed although they have readers.
function readers.drop(P, ids)
  local read = call('SMISMEMBER', P .. 'read', unpack(ids))
  for i = 1, #ids do
    if read[i] == 1 then
      call('UNLINK', P .. 'readers:' .. ids[i])
      call('SREM', P .. 'read', ids[i])
      call('ZREM', P .. 'keep_until', ids[i])
      leave_retained(P, ids[i])
    end
  end
end

-- Subtracts the bytes of these results from the sum (lib/results.lua).
function readers.uncount(P, ids)
  if call('EXISTS', P .. 'result_sizes') == 0 then return end
  local sizes, bytes = call('HMGET', P .. 'result_sizes', unpack(ids)), 0
  for i = 1, #ids do bytes = bytes + count_of(sizes[i]) end
  call('HDEL', P .. 'result_sizes', unpack(ids))
  add_to(P .. 'result_sizes', '#', -bytes)
end

-- Adds tasks that are still in `completed` to `retained`.
function readers.retain(P, ids)
  local scores, members, apart = call('ZMSCORE', P .. 'completed', unpack(ids)), {}, {}
  for i = 1, #ids do
    members[2 * i - 1], members[2 * i] = scores[i], ids[i]
    if not apart[scores[i]] then leave_result_block(P, scores[i]) end
    apart[scores[i]] = true
  end
  readers.uncount(P, ids)
  enter_retained(P, members)
  call('SADD', P .. 'read', unpack(ids))
end

-- Returns two lists: tasks with readers, or with children, which become readers in this call; and the other tasks.
function readers.of(P, ids)
  local read, linked = call('SMISMEMBER', P .. 'read', unpack(ids)), call('SMISMEMBER', P .. 'linked', unpack(ids))
  local found, others = {}, {}
  for i = 1, #ids do
    local list = read[i] + linked[i] > 0 and found or others
    list[#list + 1] = ids[i]
  end
  return found, others
end

-- Completed tasks are about to be removed from `completed`: those with readers are kept in `retained`. Returns the
-- others.
function readers.spare(P, ids)
  if call('EXISTS', P .. 'read', P .. 'linked') == 0 then return ids end
  local read, others = readers.of(P, ids)
  if #read > 0 then readers.retain(P, read) end
  return others
end

-- The same for tasks that have just completed in a queue that keeps no records. results: id -> result, or nil.
function readers.keep(P, ids, ended, results)
  local read, others = readers.of(P, ids)
  for _, id in ipairs(read) do
    if results and results[id] then call('HSET', P .. 'results', id, results[id]) end
    enter_retained(P, {ended, id})
    call('SADD', P .. 'read', id)
  end
  return others
end
