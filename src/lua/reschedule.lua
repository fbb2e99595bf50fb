#!lua
-- reschedule: a waiting task gets another time or another priority.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2]  "at": a time in ms since the epoch (0 or past: now), "in": a delay in ms, "priority": -128 to 127
-- ARGV[3]  the number
-- reply    "ok", or the state that does not allow it, or "malformed", or "" when there is no such task
--
-- Sent twice: it says the same again; a task that has become ready meanwhile goes to the end of its order again.
-- require: base, foreign_key, sequence, read_task, control, event, history, schedule

local P, id, what, number = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local bound = what == 'priority' and 127 or INT64
if not id or not number or not is_whole(number, -bound - 1, bound) or what ~= 'priority' and what ~= 'at' and what ~= 'in' then
  return redis.error_reply('ERR reschedule: ARGV[2] and ARGV[3] are "at", "in" or "priority", and a whole number in its range')
end
local task, reply = read_waiting_task(P, id)
if not task then return reply end
local envelope, state, score = task.envelope, task.state, task.score
local o = header(envelope, id)
if o.malformed then return 'malformed' end

-- The header is changed as text: decoded and encoded again, its numbers would not be the same.
local function with_priority(text_of, priority)
  local line_end = find(text_of, '\n', 1, true)
  local line, payload = sub(text_of, 1, line_end - 1), sub(text_of, line_end)
  local rest = o.priority and string.gsub(line, '%s*,%s*"priority"%s*:%s*[-+.%deE]+', '', 1) or line
  local head, tail = string.match(rest, '^(.-"type":"[^"]*")(.*)$')
  local due = string.match(tail, '^,"due":%d+') or string.match(tail, '^,"delay":%d+') or ''
  head, tail = head .. due, sub(tail, #due + 1)
  if priority ~= 0 then head = head .. ',"priority":' .. text(priority) end
  return head .. tail .. payload
end

if what == 'priority' then
  if (o.priority or 0) == number then return 'ok' end
  envelope = with_priority(envelope, number)
  local changed = header(envelope, id)
  if changed.malformed or (changed.priority or 0) ~= number then return 'malformed' end
  call('HSET', P .. 'tasks', id, envelope)
  if state == 'ready' or state == 'parked' then
    leave_place(P, id, state, envelope)
    o.priority = number
    to_ready(P, id, o)
  elseif has_info(envelope) then
    call('HDEL', P .. 'info:' .. id, 'place')
  end
  note(P, id, clock(), 'priority', 'priority', number)
  tell(P, 'priority', id, 'priority', text(number))
  return 'ok'
end
if state == 'blocked' then return state end
local now = clock()
local due = what == 'in' and now + number or number
if state == 'scheduled' and math.floor(score) == due and due > now then return 'ok' end
if due > now or state == 'scheduled' then put_off(P, id, envelope) end
if due > now then
  leave_place(P, id, state, envelope)
  schedule(P, id, due)
  note(P, id, now, 'rescheduled', 'due', due, what == 'in' and 'delay', number)
  tell(P, 'rescheduled', id, 'due', text(due))
elseif state == 'scheduled' then
  leave_place(P, id, state, envelope)
  to_ready(P, id, o)
  note(P, id, now, 'rescheduled', 'due', now)
  tell(P, 'rescheduled', id, 'due', text(now))
end
return 'ok'
