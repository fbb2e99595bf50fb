#!lua flags=no-writes
-- bulk_look: counts and names the tasks that bulk_update would change, some at a time.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the state: blocked, ready, scheduled, parked, completed, dead, cancelled
-- ARGV[2]  the cursor: "" at first, then what the last reply said
-- ARGV[3]  how many tasks to look at, at least 1, of more than 1000 1000; fewer where the call has done enough (lib/budget.lua)
-- ARGV[4]  dead: only those of this kind, or ""
-- ARGV[5]  only those of this type, or ""
-- ARGV[6]  only those with this tag, or ""
-- ARGV[7]  only those that ended (came, for waiting ones) at least so long ago, in ms; 0: any
-- reply    [1] the next cursor; "" at the end
--          [2] how many were looked at
--          [3] how many are meant
--          [4] the ids of the first 10 of those that are meant, in this page
--
-- The tasks of a packet (lib/segment.lua) are looked at together, in the place of the packet; of one of which a part was
-- looked at, the cursor's id is "+<p> <score of the next task>".
-- Sent twice: it only reads.
-- require: base, budget, bulk_call

local P, state = KEYS[1], ARGV[1]
local sweep, max = begin_bulk(P, ARGV, clock(), {'', 0, 0, {}})
if not sweep then return max end

local SOME = 10
local seen, meant, some = 0, 0, {}
local function look(id, score)
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope and sweep.means(header(envelope), score) then
    meant = meant + 1
    if #some < SOME then some[#some + 1] = id end
  end
  seen = seen + 1
end

local function is_full()
  return seen >= max or seen > 0 and budget.left <= 0
end

-- Looks at the tasks of a packet from this score on, as many as there is room for. Returns whether those are all. Its first
-- tasks may have been leased since the last call: then those that stood between them were, too.
local function look_into(member, from)
  local score = tonumber(call('ZSCORE', sweep.set, member))
  if not score then return true end
  local first, count = math.max(0, math.ceil((from - score) / @SCORE_STEP@)), max - seen
  local ids = call('LRANGE', P .. 'packet:' .. sub(member, 2), text(first), text(first + count - 1))
  local at = 0
  while ids[at + 1] and not is_full() do
    look(ids[at + 1], score + (first + at) * @SCORE_STEP@)
    at = at + 1
  end
  sweep.pass(text(score), member)
  if at == #ids and at < count then return true end
  sweep.last = member .. ' ' .. text(score + (first + at) * @SCORE_STEP@)
  return false
end

local member, from = string.match(sweep.last, '^(%+%d+) (%d+)$')
if member then
  sweep.last = member
  if not look_into(member, tonumber(from)) then return {sweep.cursor(false), seen, meant, some} end
end
local at_end = visit_page(sweep, sweep.next_rank(), max, is_full, function(id, score)
  if state == 'ready' and byte(id) == PACKET then return look_into(id, tonumber(score)) end
  look(id, tonumber(score))
  sweep.pass(score, id)
end)
return {sweep.cursor(at_end), seen, meant, some}
