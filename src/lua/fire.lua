#!lua
-- fire: a recurring entry's time has come: its tasks are made, one for each slot, once, whoever calls how often.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the entry's name
-- ARGV[2]  when it was due, as maintain.lua said; "" to make a task now, besides its times; "past" to make tasks of
--          slots that are past, whatever the entry says of overlaps and of how many tasks it makes; the last task of
--          the entry stays what it is
-- ARGV[3]  when it is due next [ms since the epoch; -1: never]
-- ARGV[4...] the ids of the tasks to make, derived from the entry and the slot; none when it was due at none of its
--            slots
-- An entry with "runs" in its definition makes so many tasks at its slots, the first of ARGV[4...]. Then it has ended, as
-- has one that is never due again: it is not due any more, and `cron:stopped` says why.
-- reply    how many were made, or -1: another call was first, or there is no such entry; -2: it wants no overlap, and
--          its last task waits or runs
--
-- Sent twice: the second call finds the entry due at another time, or the task that it was to make now there, or,
-- where that has ended and its record is gone, noted as the last one.
-- require: base, foreign_key, options, sequence, schedule, state_kinds, tags, tags_once, event, insert, task_state
-- require: whole

local P, name, due, next_due = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local is_due = due ~= '' and due ~= 'past'
if not next_due or not is_due and not ARGV[4] or #ARGV > @ENQUEUE_MAX@ then
  return redis.error_reply('ERR @NAME@: it takes an entry, when it was due, when it is due next, and at most @ENQUEUE_MAX@ ids')
end
do
-- require: expect
  local fault = unfit(KEYS[1])
  if fault then return fault end
end
local definition = call('HGET', P .. 'cron', name)
-- What is not understood stays due, for a program that understands it.
local line_end = definition and find(definition, '\n', 1, true)
local entry = line_end and decoded(sub(definition, 1, line_end - 1))
local options, rest = entry and entry.options or {}, entry and sub(definition, line_end + 1)
if not entry or type(options) ~= 'table' or option_fault(options) then return -1 end
if is_due and not whole(next_due, -INT64, LATEST) then return -1 end
local runs = is_due and whole(entry.runs, 1, LATEST) or nil
local function end_it()
  call('ZREM', P .. 'cron:due', name)
  call('HSET', P .. 'cron:stopped', name, 'ended')
end

local left = runs and runs - count_of(call('HGET', P .. 'cron:runs', name)) or #ARGV
for i = 4, #ARGV do
  if task_fault(ARGV[i], rest, options) then return -1 end
end
if is_due then
  if tonumber(call('ZSCORE', P .. 'cron:due', name)) ~= tonumber(due) then return -1 end
  -- Nobody need be told: every worker that knew of this time comes now, and hears of the next one.
  if tonumber(next_due) < 0 or left <= 0 then
    end_it()
  else
    call('ZADD', P .. 'cron:due', text(tonumber(next_due)), name)
  end
  if not ARGV[4] or left <= 0 then return 0 end
elseif due == '' and (call('HEXISTS', P .. 'tasks', ARGV[4]) == 1 or call('HGET', P .. 'cron:last', name) == ARGV[4]) then
  return 0
end
if entry.overlap == false and due ~= 'past' then
  local last = call('HGET', P .. 'cron:last', name)
  local state = last and call('HEXISTS', P .. 'tasks', last) == 1 and task_state(P, last)
  if state and not is_ended(state) then return -2 end
end
if options.tags then options.tags, rest = tags_once(options.tags, rest) end
local now, made = clock(), 0

-- The slots of an interval come again when the clock was set back (lib/set_back.lua), and their tasks of the time
-- before may still be there: the next ms tells them apart.
local function put_again(id)
  local stem, slot = string.match(id, '^(cron:.+:)(%d+)$')
  if not stem or not is_due or not find(definition, '^{"spec":"every ') then return nil end
  for i = 1, 9 do
    id = stem .. text(slot + i)
    if insert_task(P, id, options, rest, now) then return id end
  end
end

for i = 4, min(#ARGV, 3 + left) do
  local id = insert_task(P, ARGV[i], options, rest, now) and ARGV[i] or put_again(ARGV[i])
  if id then
    made = made + 1
    if due ~= 'past' then call('HSET', P .. 'cron:last', name, id) end
  end
end
if runs and made > 0 then call('HINCRBY', P .. 'cron:runs', name, text(made)) end
if runs and made >= left then end_it() end
return made
