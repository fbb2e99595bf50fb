#!lua flags=no-writes
-- bulk_look: counts and names the tasks that bulk_update would change, some at a time.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  a state that users see, but not running
-- ARGV[2]  the cursor: "" at first, then what the last reply said
-- ARGV[3]  how many tasks to look at, at least 1, of more than 1000 1000; fewer where the call has done enough
--          (lib/budget.lua)
-- ARGV[4]  only those whose last error is of this kind, or ""
-- ARGV[5]  only those of this type, or ""
-- ARGV[6]  only those with this tag, or ""
-- ARGV[7]  only those that ended (came, for waiting ones) at least so long ago, in ms; 0: any
-- ARGV[8...] what else the filter asks, names and values (lib/filter.lua)
-- reply    [1] the next cursor; "" at the end
--          [2] how many were looked at
--          [3] how many are meant
--          [4] the ids of the first 10 of those that are meant, in this page
--
-- The tasks of a segment (lib/segment.lua) are looked at together, in the place of the segment; of one of which a part
-- was looked at, the cursor's id is "+<p> <score of the next task>".
-- Sent twice: it only reads.
-- require: base, absent, budget, bulk_call, bulk_segments

local P, state = KEYS[1], ARGV[1]
local bulk, max = begin_bulk(P, ARGV, clock(), {'', 0, 0, {}})
if not bulk then return max end

local SOME = 10
local limit = bulk.filter.limit or max
local seen, meant, some = 0, 0, {}
local function look(id, score)
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope and bulk.means(id, envelope, score) then
    meant = meant + 1
    if #some < SOME then some[#some + 1] = id end
  end
  seen = seen + 1
end

local function is_full()
  return seen >= max or seen > 0 and budget.left <= 0 or meant >= limit
end

local at_end = look_through(P, bulk, max, is_full, look)
return {bulk.cursor(at_end), seen, meant, some}
