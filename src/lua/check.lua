#!lua flags=no-writes
-- check: looks for data of a queue that contradict one another, some at a time. It changes nothing; repair.lua repairs
-- what it finds.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the cursor: "" at first, then what the last reply said; or "walk 0 0 4 <key>", a key that a reply named
-- or       "again", a kind and a subject: this finding is looked at once more
-- reply    [1] the next cursor; "" at the end
--          [2] how many elements were looked at
--          [3] of the first call: how many there are, else 0
--          then for each finding: its kind, its subject and what was found. The kind "walk" is no finding: its subject
--          is the name of a key that is to be walked through with cursors of its own, before the end. "edge_far" is a
--          finding only where the queue of the parent then finds no "edge_known"
-- of again [1] what was found; or "none"
--
-- A call looks at all that a finding is about, so that it reports no transition: scripts make these at once. Elements
-- that come while the check goes on may be passed over. Where a key with a fixed name has another type, only that is
-- reported, and the cursor is "".
--
-- Sent twice: it only reads.
-- require: base, budget, check_keys, findings, check_walk, check_tasks

local P, cursor = KEYS[1], ARGV[1]
if not P or not cursor then return redis.error_reply('ERR @NAME@: it takes a cursor, or "again", a kind and a subject') end

-- What is found, or nil. A key of another type is a finding of its own (key_type), and others do not fail at it.
local function found_in(kind, subject)
  local good, detail = pcall(FINDINGS[kind], P, subject)
  if good then return detail end
  if not find(type(detail) == 'table' and detail.err or tostring(detail), 'WRONGTYPE', 1, true) then error(detail, 0) end
end

if cursor == 'again' then
  if not FINDINGS[ARGV[2] or ''] or not ARGV[3] then return redis.error_reply('ERR @NAME@: "again" takes a kind and a subject') end
  local detail = found_in(ARGV[2], ARGV[3])
  return {detail and 'found ' .. detail or 'none'}
end

-- A call is to take Redis a few milliseconds.
budget.left = 400
local reply = {'', 0, 0}
local FINDINGS_MAX = 150
local function report(kind, subject, detail)
  local n = #reply
  reply[n + 1], reply[n + 2], reply[n + 3] = kind, subject, detail
end
local function suspect(kind, subject)
  local detail = found_in(kind, subject)
  if detail then report(kind, subject, detail) end
  return #reply > FINDINGS_MAX
end

-- ---- keys with a name behind a colon --------------------------------------------------------------------------------

-- What is looked for at a key: kinds of findings, of its name or, behind a colon, of what follows the family.
local OF_KEYS = {
  ['info'] = {'key_without_task', ':mark_missing', ':extra_missing'},
  ['parents'] = {'key_without_task', ':extra_missing'},
  ['reads'] = {'key_without_task', ':reads_uncounted'},
  ['readers'] = {'key_without_task', ':readers_unlisted'},
  ['running'] = {'session_unlisted'},
  ['lost'] = {'session_unlisted'},
  ['once'] = {'session_unlisted'},
  ['woken'] = {'session_unlisted'},
  ['hand'] = {'session_unlisted'},
  ['segment'] = {':segment_lost', ':segment_unlisted'},
  ['parked'] = {':group_unwatched'},
  ['unparked'] = {':group_unwatched'},
  ['unique'] = {':unique_stale'},
  ['tag'] = {':tag_index'},
  ['children'] = {':linked_missing'},
  ['awaiting_retry'] = {':linked_missing'},
  ['fanout'] = {':fanout_lost'},
}
-- Keys whose elements are looked at, too: the command, and what is looked for at "<element> <key>".
local WALKED = {['running'] = {'HSCAN'}, ['lost'] = {'HSCAN'}, ['segment'] = {'LRANGE'}, ['parked'] = {'ZSCAN', 'group_stray'},
  ['unparked'] = {'ZSCAN', 'group_stray'}, ['failures'] = {'ZSCAN', 'failure_stray'}, ['readers'] = {'ZSCAN', 'reader_stray'},
  ['parents'] = {'HSCAN'}, ['children'] = {'ZSCAN', 'child_stray'}, ['awaiting_retry'] = {'ZSCAN', 'child_stray'}}
local function look_at_key(name)
  name = sub(name, #P + 1)
  local family, rest = family_of(name)
  if not FAMILIES[family or ''] then return end
  local wrong_type = found_in('key_type', name)
  if wrong_type then return report('key_type', name, wrong_type) end
  for _, kind in ipairs(OF_KEYS[family] or {}) do
    if byte(kind) == 58 then suspect(sub(kind, 2), rest) else suspect(kind, name) end
  end
  -- Edges are looked at while they are waited for.
  local walks = WALKED[family] and (family ~= 'parents' or call('ZSCORE', P .. 'blocked', rest))
  if walks then report('walk', name, '') end
  return #reply > FINDINGS_MAX
end

-- Leases of one session.
local SETS_OF_STATES = {@WAITING_SETS@, @RETAINED_SETS@}
local function look_at_lease(id, key)
  if byte(id) == 35 then return end
  suspect('state_without_task', key .. ' ' .. id)
  suspect('lease_malformed', key .. ' ' .. id)
  suspect('slot_missing', key .. ' ' .. id)
  -- A second lease is found with the task.
  for _, set in ipairs(SETS_OF_STATES) do
    if call('ZSCORE', P .. set, id) then return suspect('task_twice', id) end
  end
end

-- A parent in another queue is asked by the caller, in `edge_known`.
local function look_at_edge(parent, key)
  suspect('edge_malformed', parent .. ' ' .. key)
  suspect('edge_untold', parent .. ' ' .. key)
  local number = found_in('edge_far', parent .. ' ' .. key)
  if number then report('edge_far', parent .. ' ' .. key .. ' ' .. number, number) end
  return #reply > FINDINGS_MAX
end

local function look_at_segment(key)
  budget.left = budget.left - 100
  for _, id in ipairs(call('LRANGE', P .. key, '0', '2047')) do
    if call('HEXISTS', P .. 'tasks', id) == 0 then suspect('segment_without_task', id .. ' ' .. key) end
  end
end

-- ---- keys with fixed names ------------------------------------------------------------------------------------------

local function of_state(key, kind)
  return function(id)
    if key == 'ready' and byte(id) == SEGMENT then return suspect('segment_empty', sub(id, 2)) end
    if kind then suspect(kind, id) end
    return suspect('state_without_task', key .. ' ' .. id)
  end
end

local function look_for(kind)
  return function(element) return suspect(kind, element) end
end

local function look_at_result(field)
  suspect('result_stale', field)
  return suspect('result_size', field)
end

local function look_at_parent(id)
  suspect('linked_stale', id)
  return suspect('child_untold', id)
end

local function look_at_limit(field)
  return suspect('limit_index', sub(field, 3))
end

-- Elements that are not in a key that is walked through: {kind, subject}.
local ONCE = {{'in_force', ''}, {'running_count', ''}, {'group_count', ''}, {'result_sum', ''}, {'waiters_unset', ''}, {'wake_tokens', ''},
  {'sequence', ''}, {'sequence_flag', 'groups'}, {'sequence_flag', 'events'}, {'sequence_flag', 'payload_max'}, {'counter', 'completed'}, {'counter', 'failed'},
  {'counter', 'dead'}, {'counter', 'crashed'}}

local ONCE_COSTS = 600

-- The parts of a check, in an order in which repairs of one prepare the next: {command, key, look}.
local PARTS = {
  {'SCAN', nil, look_at_key},
  {'SSCAN', 'segments', look_for('segment_empty')},
  {'ZSCAN', 'sessions', look_for('session_empty')},
  {'HSCAN', 'tasks', nil},
}
local OF_STATES = {['blocked'] = 'blocked_pending', ['parked'] = 'parked_alone', ['dead'] = 'failure_missing',
  ['retained'] = 'retained_unread'}
for _, key in ipairs({@WAITING_SETS@, @RETAINED_SETS@}) do PARTS[#PARTS + 1] = {'ZSCAN', key, of_state(key, OF_STATES[key])} end
for _, part in ipairs({
  {'HSCAN', 'running_group', look_for('slot_stale')},
  {'HSCAN', 'limits', look_at_limit},
  {'ZSCAN', 'limited', look_for('limit_index')},
  {'HSCAN', 'results', look_at_result},
  {'ZSCAN', 'result_blocks', look_for('result_block')},
  {'HSCAN', 'result_sizes', look_for('result_size')},
  {'SSCAN', 'completed_extra', look_for('extra_stale')},
  {'ZSCAN', 'failures', look_for('failure_kind')},
  {'SSCAN', 'read', look_for('read_stale')},
  {'ZSCAN', 'keep_until', look_for('keep_stale')},
  {'SSCAN', 'linked', look_at_parent},
  {'ZSCAN', 'deadlines', look_for('deadline_stale')},
  {'ZSCAN', 'tags', look_for('tag_index')},
  {'ZSCAN', 'cron:due', look_for('cron_stale')},
  {'HSCAN', 'cron:last', look_for('cron_stale')},
  {'HSCAN', 'cron:runs', look_for('cron_stale')},
  {'HSCAN', 'cron:stopped', look_for('cron_stale')},
}) do PARTS[#PARTS + 1] = part end

local SIZES = {SCAN = 'DBSIZE', HSCAN = 'HLEN', SSCAN = 'SCARD', ZSCAN = 'ZCARD'}
local function total()
  local count = 0
  for _, part in ipairs(PARTS) do
    local command, key = SIZES[part[1]], part[2]
    count = count + (key and call(command, P .. key) or call(command))
  end
  return count
end

-- Keys with fixed names of another type: nothing else can be looked at.
local function check_types()
  for _, names in pairs(KEY_TYPES) do
    for name in string.gmatch(names, '%S+') do suspect('key_type', name) end
  end
end

-- ---- this call ------------------------------------------------------------------------------------------------------

local place, walked = match(cursor, '^walk (%d+ %d+ %d+) (.+)$')
if walked then
  local how = WALKED[family_of(walked) or '']
  if found_in('key_type', walked) then return reply end
  if not how then return redis.error_reply('ERR @NAME@: no reply names the key of this cursor') end
  if how[1] == 'LRANGE' then
    look_at_segment(walked)
    return reply
  end
  local next_place
  next_place, reply[2] = walk_key(how[1], P .. walked, place, P, function(element)
    if how[2] then return suspect(how[2], element .. ' ' .. walked) end
    if match(walked, '^parents:') then return look_at_edge(element, walked) end
    return look_at_lease(element, walked)
  end)
  if next_place then reply[1] = 'walk ' .. next_place .. ' ' .. walked end
  return reply
end

if cursor == '' then
  check_types()
  if #reply > 3 then return reply end
  reply[3] = total()
end
local number
number, place = match(cursor, '^(%d+) (.*)$')
number, place = max(1, tonumber(number) or 1), place or ''
while number <= #PARTS and budget.left > 0 and #reply <= FINDINGS_MAX do
  local part, seen = PARTS[number], nil
  if part[2] == 'tasks' then
    place, seen = walk_tasks(P, place, suspect)
  else
    place, seen = walk_key(part[1], part[2] and P .. part[2], place or '', P, part[3])
  end
  reply[2] = reply[2] + seen
  if not place then number, place = number + 1, '' end
end
if number <= #PARTS or budget.left < ONCE_COSTS and cursor ~= text(number) .. ' ' then
  reply[1] = text(number) .. ' ' .. (place or '')
else
  for _, one in ipairs(ONCE) do suspect(one[1], one[2]) end
end
return reply
