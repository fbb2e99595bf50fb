-- The outcomes that are not plain completions: what the records of turn.lua, whose head describes them, do to a task
-- that has just left its session.
--
-- requires: base, cancel_mark, cancelled, deadline, death, requeue_one, group_place, history, retention, readers
-- requires: schedule, settle, stats, totals, turn_settings, unique
-- gives: outcomes

-- Notes a failed attempt in info:<id>, and takes the deadline out of the envelope. more: how many failures this adds.
-- what: what becomes of the task, for its history; "failed" if it was cancelled. Returns the envelope as it is now, or
-- nil.
local function failed(P, id, now, kind, message, more, what, ...)
  local info, envelope = P .. 'info:' .. id, call('HGET', P .. 'tasks', id)
  if envelope and is_cancelled(envelope) then what = 'failed' end
  if more > 0 then count_total(P, 'failed', more) end
  local known = call('HMGET', info, 'failures', 'history')
  local history = history_with(known[2], history_line(now, what, 'kind', kind, 'message', message, ...))
  call('HSET', info, 'failures', text(count_of(known[1]) + more), 'kind', kind, 'message', message,
    'failed', text(now),
    'history', history)
  if not envelope then return end
  envelope = drop_deadline(P, id, envelope)
  mark_info(P, id, envelope)
  return envelope
end

-- A function for each outcome. It gets the three arguments of the record, and returns the state in which the task ends,
-- or nil if it does not end.
local outcomes = {}

-- Keeps the record of a task with the option `keep` for the time that this says. Returns whether it has one.
local function hold_record(P, id, now)
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope or header(envelope, id).malformed then return false end
  local keep = decoded(match(envelope, '^[^\n]*')).keep
  if not keep or not is_whole(keep, 1, INT64) then return false end
  readers.hold(P, id, now + keep)
  return true
end

function outcomes.done(P, id, now, settings, result, has_result, more)
  local envelope = find(more, '1', 1, true) and call('HGET', P .. 'tasks', id)
  if envelope then unlock(P, id, header(envelope)) end
  if find(more, 'd', 1, true) then call('ZREM', P .. 'deadlines', id) end
  if find(more, 'c', 1, true) then call('HDEL', P .. 'info:' .. id, 'checkpoint', 'has') end
  local extra = find(more, 'i', 1, true)
  local held = find(more, 't', 1, true) and hold_record(P, id, now)
  if not complete(P, {id}, now, settings, has_result == '1' and {[id] = result}, extra, held) and extra then
    readers.keep_edges(P, {id})
    forget_told(P, {id})
  end
  return 'completed'
end

function outcomes.retry(P, id, now, settings, delay, kind, message)
  local envelope = failed(P, id, now, kind, message, 1, 'retry', 'delay', tonumber(delay))
  if envelope and is_cancelled(envelope) then return end_cancelled(P, id, envelope, now) end
  schedule(P, id, now + delay)
end

function outcomes.fail(P, id, now, settings, counts, kind, message)
  failed(P, id, now, kind, message, counts == '1' and 1 or 0, 'dead')
  return die(P, id, now, kind, message)
end

-- A task that is to go back is put first in its group before its outcome is written (call_first in
-- lib/limit_state.lua). If it ends instead, it leaves that place.
local function leave_first(P, id, settings, envelope)
  if settings[IN_FORCE] then leave_groups(P, id, envelope) end
end

-- max: with how many crashes the task dies; '0': it is not known whether this task caused the crash.
function outcomes.crash(P, id, now, settings, max, message, backtrace)
  local info, envelope = P .. 'info:' .. id, call('HGET', P .. 'tasks', id)
  count_total(P, 'crashed')
  add_stats(P, now, 'crashed', 1)
  if not envelope then return end
  local known, is_cause = call('HMGET', info, 'crashes', 'history'), max ~= '0'
  local crashes = count_of(known[1]) + 1
  local is_over = is_cause and crashes >= tonumber(max) and not is_cancelled(envelope)
  local line = history_line(now, is_over and 'dead' or 'crashed', 'kind', 'crash', 'message', message)
  call('HSET', info, 'crashes', text(crashes), 'kind', 'crash', 'message', message, 'backtrace', backtrace, 'failed', text(now),
    'history', history_with(known[2], line))
  if is_cause then call('HSET', info, 'alone', '1') end
  envelope = drop_deadline(P, id, envelope)
  mark_info(P, id, envelope)
  if is_over or is_cancelled(envelope) then leave_first(P, id, settings, envelope) end
  if is_over then return die(P, id, now, 'crash', message) end
  if is_cancelled(envelope) then return end_cancelled(P, id, envelope, now) end
  requeue_one(P, id, envelope)
end

function outcomes.snooze(P, id, now, settings, delay, begun)
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope then return end
  if is_cancelled(envelope) then
    leave_first(P, id, settings, envelope)
    return end_cancelled(P, id, envelope, now)
  end
  if begun == '' then keep_deadline(P, id, envelope) else envelope = drop_deadline(P, id, envelope) end
  if tonumber(delay) > 0 then
    put_off(P, id, envelope)
    if begun == '2' then
      call('HINCRBY', P .. 'info:' .. id, 'snoozes', '1')
      mark_info(P, id, call('HGET', P .. 'tasks', id))
    end
    schedule(P, id, now + delay)
  else
    requeue_one(P, id, envelope)
  end
end

-- The reason becomes the last member of the header, as cancel.lua writes it. is_discarded: '1': no record of the task
-- is kept.
function outcomes.cancel(P, id, now, settings, is_discarded, reason)
  local envelope = call('HGET', P .. 'tasks', id)
  if not envelope then return end
  if is_discarded == '1' then return end_cancelled(P, id, envelope, now, false) end
  local o = header(envelope)
  if reason == '' or o.malformed then return end_cancelled(P, id, envelope, now) end
  if not o.reason then
    local last = find(envelope, '\n', 1, true) - 2
    call('HSET', P .. 'tasks', id, sub(envelope, 1, last) .. ',"reason":' .. cjson.encode(reason) .. sub(envelope, last + 1))
  end
  return end_cancelled(P, id, envelope, now, 'message', reason)
end
