#!lua flags=no-writes
-- why: what keeps a task, or a queue, from running.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  a task's id; "": the queue itself
-- ARGV[2]  "state": the task's state and no more; else "" or absent
-- reply    nil when there is no such task, else field, value, ...; a field that does not apply is absent:
--          now       ms since the epoch, as all times
--          of the queue: paused (since when; "1": not known), paused_until, concurrency and counted (how many tasks
--              run and are counted), rate ("<count> <period ms> <burst>") and opens (when it lets the next task start,
--              while it lets none start), breaker ("o": open, "t <id>": half-open, and this task tries), live and
--              expired (sessions)
--          of the queue itself: ready, scheduled, due (the time of the first of these), blocked, parked, running (how
--              many tasks), head and type (the id and type of the next task: the first ready one, else the first
--              scheduled one)
--          of a task: state ("unknown": it stands nowhere), type, group, score (where it stands), session, lease
--              ("<since ms> <thread>"), expires (the session), about (the session's description), failures, kind (of
--              the last error), before (how many tasks start before it) and more ("1": perhaps more than that)
--          of its group, or of the one under which it is parked (`type:<type>`: its type; `key:<key>`: a limit key):
--              group_concurrency and group_counted, group_rate and group_opens, group_paused_until, group_breaker, as
--              above
--          of both, of a task when it waits for one of another queue: outbox (how many messages to other queues there
--              are)
--          of a blocked task: pending (how many parents have not ended) and, of the first 10 of these (fewer in a queue
--              of many sessions), parent (its handle) and parent_state ("": it is in another queue; "gone": there is no
--              such task), in turns
--
-- Sent twice: it only reads.
-- require: base, absent, sequence, requeue_front, event, group_place, limit_state, counts, task_state, states

if not KEYS[1] or not ARGV[1] then return redis.error_reply('ERR @NAME@: ARGV[1] is a task, or empty') end
local P, id = KEYS[1], ARGV[1]
local now = clock()
local reply = {}

local function say(field, value)
  if value ~= nil and value ~= false and value ~= '' then
    reply[#reply + 1] = field
    reply[#reply + 1] = type(value) == 'number' and text(value) or value
  end
end

-- A rate, and when it opens if it is used up.
local function say_rate(prefix, rate, tat)
  if not rate or rate == '' then return end
  local room, r = rate_room(P, rate, tat, now)
  say(prefix .. 'rate', rate)
  if r and room < 1 then say(prefix .. 'opens', math.min(rate_opens(r, 0), LATEST)) end
end

-- A breaker that was opened and has not closed (lib/breaker.lua).
local function say_breaker(prefix, scope)
  local letter, id = string.match(call('HGET', P .. 'breakers', scope) or '', '^([to]) %d+( ?.*)$')
  if letter then say(prefix .. 'breaker', letter .. id) end
end

local function say_queue()
  local paused, paused_until, concurrency, rate = unpack(call('HMGET', P .. 'settings', 'paused', 'paused_until', 'concurrency', 'rate'))
  local counted, tat = unpack(call('HMGET', P .. 'limit_state', 'running', 'tat'))
  say('now', now)
  say('paused', paused)
  if count_of(paused_until) > now then
    say('paused_until', paused_until)
    say_breaker('', 'q')
  end
  say('concurrency', concurrency)
  if concurrency then say('counted', counted or '0') end
  say_rate('', rate, tat)
  say('expired', call('ZCOUNT', P .. 'sessions', '-inf', text(now)))
  say('live', call('ZCOUNT', P .. 'sessions', '(' .. text(now), '+inf'))
end

-- What keeps a group from starting tasks.
local function say_group(group)
  local own_concurrency, own_rate = unpack(call('HMGET', P .. 'limits', 'c:' .. group, 'r:' .. group))
  local common_concurrency, common_rate = unpack(is_virtual(group) and {} or call('HMGET', P .. 'settings', 'group_concurrency', 'group_rate'))
  local concurrency = tonumber(own_concurrency or common_concurrency)
  say('group', group)
  if concurrency and concurrency >= 0 then
    say('group_concurrency', concurrency)
    say('group_counted', call('HGET', P .. 'group_running', group) or '0')
  end
  say_rate('group_', own_rate or common_rate, call('ZSCORE', P .. 'rates', group))
  local ends = number_of(call('ZSCORE', P .. 'paused_groups', group), 0)
  if ends and ends > now then
    say('group_paused_until', ends)
    say_breaker('group_', 'g:' .. group)
  end
end

-- How many tasks of `ready` have a lower score: members that stand by themselves, and tasks of segments, of which some
-- are looked at.
local SEGMENTS = 100
local function say_before(score)
  local before = call('ZCOUNT', P .. 'ready', '-inf', '(' .. text(score))
  local count = call('SCARD', P .. 'segments')
  local segments = count <= SEGMENTS and call('SMEMBERS', P .. 'segments') or {}
  for _, p in ipairs(segments) do
    local first = tonumber(call('ZSCORE', P .. 'ready', '+' .. p))
    if first and first < score then
      local length = call('LLEN', P .. 'segment:' .. p)
      before = before - 1 + math.min(length, math.ceil((score - first) / STEP))
    end
  end
  say('before', before)
  if count > SEGMENTS then say('more', '1') end
end

local function say_messages()
  local count = call('LLEN', P .. 'outbox')
  if count > 0 then say('outbox', count) end
end

-- Edges that have not ended, as lib/dependency_edges.lua has them: those of a page of the hash or some pages, by place.
local PARENTS, PAGES, PAGE = 10, 10, 100
local function say_parents(queue)
  local key, cursor, pages, open = P .. 'parents:' .. id, '0', 0, {}
  say('pending', call('HGET', P .. 'info:' .. id, 'pending') or '0')
  repeat
    local page = call('HSCAN', key, cursor, 'COUNT', PAGE)
    for i = 1, #page[2], 2 do
      local edge = page[2][i + 1]
      if sub(edge, 2, 2) == '-' then open[#open + 1] = {tonumber(string.match(edge, '^..(%d+)')) or 0, page[2][i]} end
    end
    cursor, pages = page[1], pages + 1
  until cursor == '0' or pages == PAGES or #open >= PARENTS and pages > 1
  table.sort(open, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  local elsewhere, near, parents = false, {}, {}
  for i = 1, math.min(#open, PARENTS) do
    local theirs, parent = string.match(open[i][2], '^([^/]+)/(.+)$')
    elsewhere = elsewhere or theirs and theirs ~= queue
    if theirs == queue then near[#near + 1], parents[#parents + 1] = parent, i end
  end
  local found, known = states_of(P, near, '')
  local at = 1
  for i = 1, math.min(#open, PARENTS) do
    local state = ''
    if parents[at] == i then
      if at > known then break end
      state = call('HEXISTS', P .. 'tasks', near[at]) == 1 and found[at] and found[at][1] or 'gone'
      at = at + 1
    end
    reply[#reply + 1], reply[#reply + 2] = 'parent', open[i][2]
    reply[#reply + 1], reply[#reply + 2] = 'parent_state', state
  end
  if elsewhere then say_messages() end
end

local function say_task()
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope then return false end
  local state, score, session, lease = searched_state(P, id)
  say('state', state or 'unknown')
  if ARGV[2] == 'state' then return true end
  local o = header(envelope)
  say('type', o.type)
  say('score', score)
  local failures, kind = unpack(call('HMGET', P .. 'info:' .. id, 'failures', 'kind'))
  say('failures', failures)
  say('kind', kind)
  if session then
    say('session', session)
    say('lease', lease)
    say('expires', call('ZSCORE', P .. 'sessions', session))
    say('about', call('HGET', P .. 'running:' .. session, '#'))
  end
  local group, rank = o.group, nil
  for _, one in ipairs(state == 'parked' and groups_of(P, envelope) or {}) do
    local found = call('ZRANK', P .. 'parked:' .. one, id)
    if found then group, rank = one, found end
  end
  if (state == 'ready' or state == 'parked') and group then say_group(group) end
  if state == 'ready' then say_before(tonumber(score)) end
  say('before', rank)
  if state == 'blocked' then say_parents(string.match(P, '{(.*)}:$')) end
  return true
end

local function say_tasks()
  local running = count_running(P)
  say('ready', count_ready(P, running))
  say('running', running)
  for _, set in ipairs({'scheduled', 'blocked', 'parked'}) do say(set, call('ZCARD', P .. set)) end
  local due = call('ZRANGE', P .. 'scheduled', 0, 0, 'WITHSCORES')
  say('due', due[2])
  say_messages()
  local head = call('ZRANGE', P .. 'ready', 0, 0)[1]
  if head and byte(head) == SEGMENT then head = call('LINDEX', P .. 'segment:' .. sub(head, 2), 0) end
  head = head or due[1]
  local envelope = head and call('HGET', P .. 'tasks', head)
  if envelope then
    say('head', head)
    say('type', header(envelope).type)
  end
end

if id ~= '' then
  if not say_task() then return false end
  if ARGV[2] == 'state' then return reply end
else
  say_tasks()
end
say_queue()
return reply
