-- Readers: the record of a completed task, with its result, is kept whatever the retention says until the tasks that
-- waited for it have ended, for these may read it. The half of the children stands in lib/reads.lua.
--
--   readers:<id>  zset  of a completed task: handles of the tasks that may read it -> 0, or, of those in other queues,
--                       the number of the message that registered the edge; "#<n>": some of those in fanout:<n> will;
--                       "@": the task has a retention of its own, which is a reader until it is over
--   read          set   ids of such tasks
--   retained      zset  ids of those that are past the retention of the queue -> when they ended
--   keep_until    zset  ids of tasks with a retention of their own -> until when they are kept
--
-- The functions are members of a table, as a script has room for 200 locals.
--
-- requires: add_to, base, result_blocks, transitions
-- gives: readers, readers.add, readers.count_of, readers.drop, readers.hold, readers.keep, readers.spare
-- gives: readers.uncount, readers.unhold
-- fields: count_of, hold, retain, spare, uncount, unhold

local readers = {}

-- found: number, handle, ... of tasks that may read it from now on.
function readers.add(P, id, found)
  if #found == 0 then return end
  call('ZADD', P .. 'readers:' .. id, 'GT', unpack(found))
  call('SADD', P .. 'read', id)
end

-- The record is kept until a time, whatever the retention of the queue says.
function readers.hold(P, id, ends)
  call('ZADD', P .. 'readers:' .. id, '0', '@')
  call('SADD', P .. 'read', id)
  call('ZADD', P .. 'keep_until', text(min(ends, LATEST)), id)
  announce_due(P, ends)
end

-- It has no retention of its own any more. Returns whether somebody reads it.
function readers.unhold(P, id)
  call('ZREM', P .. 'keep_until', id)
  call('ZREM', P .. 'readers:' .. id, '@')
  if call('EXISTS', P .. 'readers:' .. id) == 1 then return true end
  call('SREM', P .. 'read', id)
end

-- How many tasks may read it.
function readers.count_of(P, id)
  if call('SISMEMBER', P .. 'read', id) == 0 then return 0 end
  return call('ZCARD', P .. 'readers:' .. id) - (call('ZSCORE', P .. 'readers:' .. id, '@') and 1 or 0)
end

-- These records go all the same.
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

-- Bytes of these results are counted no more.
function readers.uncount(P, ids)
  if call('EXISTS', P .. 'result_sizes') == 0 then return end
  local sizes, bytes = call('HMGET', P .. 'result_sizes', unpack(ids)), 0
  for i = 1, #ids do bytes = bytes + count_of(sizes[i]) end
  call('HDEL', P .. 'result_sizes', unpack(ids))
  add_to(P .. 'result_sizes', '#', -bytes)
end

-- These stand in `completed` still, and stay in `retained`.
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

-- Those of ids that somebody reads, or waits for (and hears of it in this very call), and the others.
function readers.of(P, ids)
  local read, linked = call('SMISMEMBER', P .. 'read', unpack(ids)), call('SMISMEMBER', P .. 'linked', unpack(ids))
  local found, others = {}, {}
  for i = 1, #ids do
    local list = read[i] + linked[i] > 0 and found or others
    list[#list + 1] = ids[i]
  end
  return found, others
end

-- Completed tasks are to leave `completed`: those that are read stay in `retained`. Returns the others.
function readers.spare(P, ids)
  if call('EXISTS', P .. 'read', P .. 'linked') == 0 then return ids end
  local read, others = readers.of(P, ids)
  if #read > 0 then readers.retain(P, read) end
  return others
end

-- Tasks have completed where no records are kept: the same. results: id -> result, or nil.
function readers.keep(P, ids, ended, results)
  local read, others = readers.of(P, ids)
  for _, id in ipairs(read) do
    if results and results[id] then call('HSET', P .. 'results', id, results[id]) end
    enter_retained(P, {ended, id})
    call('SADD', P .. 'read', id)
  end
  return others
end
