#!lua flags=allow-oom
-- bulk_update: retries, cancels or deletes the tasks in one state that a filter picks, some at a time.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "retry", "cancel" or "delete"; "look": nothing is done, those that are meant are counted
-- ARGV[2]  the state: blocked, ready, scheduled, parked, completed, dead, cancelled
-- ARGV[3]  the cursor: "" at first, then what the last reply said
-- ARGV[4]  how many tasks to look at, at least 1, of more than 1000 1000; fewer where the call has done enough (lib/budget.lua)
-- ARGV[5]  dead: only those of this kind, or ""
-- ARGV[6]  only those of this type, or ""
-- ARGV[7]  only those with this tag, or ""
-- ARGV[8]  only those that ended (came, for waiting ones) at least so long ago, in ms; 0: any
-- reply    [1] the next cursor; "" at the end
--          [2] how many were looked at
--          [3] how many it was done to
--          [4] how many it could not be done to (a unique key is held by another, or others wait for it)
--          [5] "look": the ids of the first 10 of those that are meant, in this page
--
-- Tasks that come to that state after the first call are left alone: those that ended later, and those that were
-- enqueued later. What ended later than now did so before the clock was set back. Sent twice: the second call finds less
-- to do.
-- require: base
-- In a function, where the names above cost less to capture, and as there is room for 200 locals: see CONTRIBUTING.md.
return (function()
-- require: budget, sequence, schedule, event, history, retention, unique, dependency_edges, task_state, limit_state, cancelled
return (function()
-- require: control, revive, segment

local P, action, state, cursor, most, age = KEYS[1], ARGV[1], ARGV[2], ARGV[3], nil, nil
local kind, type_wanted, tag = ARGV[5], ARGV[6], ARGV[7]
do
-- require: whole
  most, age = whole(ARGV[4], 1, INT64), whole(ARGV[8], 0, INT64)
  local ACTIONS, STATES = ' retry cancel delete look ', ' blocked ready scheduled parked completed dead cancelled '
  if not most or not age or not find(ACTIONS, ' ' .. action .. ' ', 1, true) or
    not find(STATES, ' ' .. state .. ' ', 1, true) or
    cursor ~= '' and not find(cursor, '^%d+ [%d.e+-]+ [%d.einf+-]+ .*$') then
    return redis.error_reply('ERR @NAME@: it takes what to do, a state, a cursor, how many tasks to look at, and a filter')
  end
  most = math.min(most, @CALL_MAX@)
-- require: expect
  local fault = unfit(P)
  if fault then return fault end
end
local now = clock()
local ended = state == 'completed' or state == 'dead' or state == 'cancelled'
local set = P .. (kind ~= '' and 'failures:' .. kind or state)
if call('HGET', P .. 'settings', 'large') then most = math.min(most, 50) end

-- "<when the sweep began> <up to which score> <score> <id>": where to go on: behind that id, the last one of that score
-- that was left, if it still has it; else with the first that has it, and then some may be looked at twice.
local began, limit, from, last = string.match(cursor, '^(%S+) (%S+) (%S+) (.*)$')
if not began then
  began, from, last = text(now), '-inf', ''
  limit = ended and LATEST or call('ZRANGE', set, -1, -1, 'WITHSCORES')[2]
  if not limit then return {'', 0, 0, 0, {}} end
  -- The last packet goes on to its last task.
  local tail = state == 'ready' and string.match(call('HGET', P .. 'order', 'packet') or '', ' (%d+)$')
  if tail then limit = math.max(limit, tonumber(tail)) end
end
began, limit = tonumber(began), tonumber(limit)

local function is_picked(o, score)
  local function has_tag()
    for _, one in ipairs(o.tags or {}) do
      if one == tag then return true end
    end
    return false
  end
  if type_wanted ~= '' and o.type ~= type_wanted then return false end
  if tag ~= '' and not has_tag() then return false end
  -- One that is not understood came before all that are.
  local since = o.at or 0
  if not ended and since > began then return false end
  return age == 0 or (ended and score or since) <= began - age
end

-- What ended since the sweep began is passed over.
local late = {}
function late.is(score)
  return ended and score > began and score <= now
end

function late.next_rank()
  if late.is(tonumber(from) or 0) then return call('ZCOUNT', set, '-inf', text(now)) end
  if last ~= '' and call('ZSCORE', set, last) == from then return call('ZRANK', set, last) + 1 end
  return call('ZCOUNT', set, '-inf', '(' .. from)
end

local function act(id, envelope)
  if action == 'retry' then return revive(P, id, envelope, state) end
  local why = free_of_children(P, id)
  if why then return why end
  if action == 'cancel' then return cancel(P, id, envelope, state, now) end
  return remove(P, id, envelope, state)
end

local SOME = 10
local seen, done, failed, some = 0, 0, 0, {}
local start = late.next_rank()
if state == 'ready' then unfold(P, start, most) end
local page = call('ZRANGE', set, start, start + most - 1, 'WITHSCORES')
local at_end = #page < 2 * most
for i = 1, #page, 2 do
  local id, score = page[i], page[i + 1]
  if tonumber(score) > limit then
    at_end = true
    break
  end
  if late.is(tonumber(score)) then
    from, last = text(now), ''
    at_end = call('ZCOUNT', set, '(' .. from, '+inf') == 0
    break
  end
  if seen > 0 and budget.left <= 0 then
    at_end = false
    break
  end
  local envelope = call('HGET', P .. 'tasks', id)
  local gone = false
  local meant = envelope and is_picked(header(envelope), tonumber(score))
  if meant and action == 'look' then
    done = done + 1
    if #some < SOME then some[#some + 1] = id end
  elseif meant then
    gone = act(id, envelope) == 'ok'
    if gone then done = done + 1 else failed = failed + 1 end
  end
  seen = seen + 1
  if score ~= from then from, last = score, '' end
  if not gone then last = id end
end
if at_end then return {'', seen, done, failed, some} end
return {text(began) .. ' ' .. string.format('%.17g', limit) .. ' ' .. from .. ' ' .. last, seen, done, failed, some}
end)()
end)()
