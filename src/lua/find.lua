#!lua flags=no-writes
-- find: the next tasks of a state that a filter selects.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  a state that users see
-- ARGV[2]  the cursor: "" at first, then what the last reply said
-- ARGV[3]  how many tasks to look at, at least 1, of more than 1000 1000; fewer where the call has done enough
--          (lib/budget.lua)
-- ARGV[4]  only those whose last error is of this kind, or ""
-- ARGV[5]  only those of this type, or ""
-- ARGV[6]  only those with this tag, or ""
-- ARGV[7]  only those that ended (were enqueued, of those that have not ended) at least so long ago, in ms; 0: any
-- ARGV[8...] what else the filter asks, names and values (lib/filter.lua)
-- reply    [1] the next cursor; "" at the end
--          [2] how many were looked at
--          [3...] those that are selected, each as in show.lua; of blocked ones with their parents, where the filter
--          says so
--
-- Waiting tasks come in the order in which they will run, ended ones newest first, running ones by session. A task that
-- changes its state between two calls may be missing, or be told twice.
-- Sent twice: it only reads.
-- require: base, absent, budget, bulk_call, bulk_segments, info, dependency_view

local P, state = KEYS[1], ARGV[1]
local bulk, max = begin_bulk(P, ARGV, clock(), {'', 0}, true)
if not bulk then return max end

local REPLY_BYTES, BYTES_A_COMMAND = 8388608, 4096
local limit, with_parents = bulk.filter.limit or max, bulk.filter.parents == '1' and state == 'blocked'
local reply, seen, bytes = {'', 0}, 0, 0

local function add(id, envelope, score, session, lease)
  local task, more = describe(P, id, envelope, state, score, session, lease)
  if with_parents then add_family(P, id, task) end
  reply[#reply + 1] = task
  bytes = bytes + #envelope + more
  budget.left = budget.left - 2 - math.floor((#envelope + more) / BYTES_A_COMMAND)
end

local function look(id, score, session, lease)
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope and bulk.means(id, envelope, score, session) then
    add(id, envelope, score and string.format('%.17g', score), session, lease)
  end
  seen = seen + 1
end

local function is_full()
  return seen >= max or seen > 0 and budget.left <= 0 or #reply - 2 >= limit or bytes > REPLY_BYTES
end

-- The sessions from this one on, in the order of their names.
local function sessions_from(first)
  local list = {}
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    if session >= first then list[#list + 1] = session end
  end
  table.sort(list)
  budget.left = budget.left - math.min(400, math.floor(#list / 3))
  return list
end

-- Looks at a page of a session's leases, behind the first `skip`. Returns how many of the page it passed, or nil: all
-- of them.
local function look_at_page(session, found, skip)
  for i = 2 * skip + 1, #found, 2 do
    if is_full() then return (i - 1) / 2 end
    if byte(found[i]) ~= 35 then look(found[i], nil, session, found[i + 1]) end
  end
end

local function look_at_running()
  local first, page, skip = match(bulk.last, '^(%S+) (%d+) (%d+)$')
  local pages = 0
  for _, session in ipairs(sessions_from(first or '')) do
    if session ~= first then page, skip = '0', '0' end
    local lost = P .. 'lost:' .. session
    local key = call('EXISTS', lost) == 1 and lost or P .. 'running:' .. session
    repeat
      bulk.last = session .. ' ' .. page .. ' ' .. skip
      if is_full() or pages > 0 and budget.left <= 0 then return false end
      local found = call('HSCAN', key, page, 'COUNT', '100')
      local passed = look_at_page(session, found[2], tonumber(skip))
      pages = pages + 1
      page, skip = passed and page or found[1], text(passed or 0)
    until page == '0' and not passed
  end
  return true
end

local at_end
if state == 'running' then at_end = look_at_running() else at_end = look_through(P, bulk, max, is_full, look) end
reply[1], reply[2] = bulk.cursor(at_end), seen
return reply
