-- Findings about what tasks ask for: unique keys, tags, deadlines, and marks in their envelopes. lib/check_states.lua
-- says what a finding is.
--
-- requires: base, deadline, task_state
-- gives: find_deadline_missing, find_deadline_stale, find_large_unset, find_mark_missing, find_tag_index
-- gives: find_tag_missing
-- gives: find_unique_missing, find_unique_stale

local function task_header(P, id)
  local envelope = call('HGET', P .. 'tasks', id)
  return envelope and header(envelope, id) or {}, envelope
end

-- unique_missing: a task that has not ended does not hold its unique key. Keys that are held for a time, or until the
-- task starts, are free later. A task that was moved may have come without its key (arrive.lua).
local function find_unique_missing(P, id)
  local o = task_header(P, id)
  if not o.unique or o.unique_for or o['until'] then return end
  local holder = call('GET', P .. 'unique:' .. o.unique)
  if holder == id then return end
  local state = task_state(P, id)
  if state ~= 'running' and not is_waiting(state or '') then return end
  local was_moved = find(call('HGET', P .. 'info:' .. id, 'history') or '', '"what":"moved"', 1, true)
  return not was_moved and (holder or 'nobody') or nil
end

-- A task that runs at most once keeps its key while its handler runs.
local function is_kept_once(P, id, key)
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    if call('HGET', P .. 'once:' .. session, id) == key then return true end
  end
end

-- unique_stale: a unique key without an expiry is held by a task that has ended, or does not name it.
local function find_unique_stale(P, key)
  local id = call('GET', P .. 'unique:' .. key)
  if not id or redis.pcall('PTTL', P .. 'unique:' .. key) ~= -1 then return end
  local o, envelope = task_header(P, id)
  local state = envelope and task_state(P, id)
  if (state == 'running' or is_waiting(state or '')) and (o.malformed or o.unique == key) then return end
  return not is_kept_once(P, id, key) and id or nil
end

-- tag_missing: a tag of a task does not lead to it.
local function find_tag_missing(P, id)
  for _, tag in ipairs(task_header(P, id).tags or {}) do
    if not call('ZSCORE', P .. 'tag:' .. tag, id) then return tag end
  end
end

-- tag_index: `tags` has not the tags that tasks have.
local function find_tag_index(P, tag)
  local exists, is_listed = call('EXISTS', P .. 'tag:' .. tag) == 1, call('ZSCORE', P .. 'tags', tag) and true or false
  return exists ~= is_listed and (exists and 'is missing' or 'has no tasks') or nil
end

-- deadline_missing: a task waits, and its deadline is not in `deadlines`.
local function find_deadline_missing(P, id)
  local envelope = call('HGET', P .. 'tasks', id)
  local time = envelope and deadline_of(envelope)
  if not time or call('ZSCORE', P .. 'deadlines', id) then return end
  return is_waiting(task_state(P, id) or '') and text(time) or nil
end

-- deadline_stale: `deadlines` has a task that has ended. (Malformed ones are there for the next call of maintain.)
local function find_deadline_stale(P, id)
  if not call('ZSCORE', P .. 'deadlines', id) then return end
  local envelope = call('HGET', P .. 'tasks', id)
  if envelope and find(sub(envelope, 1, 40), '"spoilt":1,', 1, true) then return end
  local state = envelope and task_state(P, id)
  return not (state == 'running' or is_waiting(state or '')) and '' or nil
end

-- What precedes the part that producers send does not count.
local LARGE_MIN = @LARGE@ + 512

-- large_unset: an envelope is large, and settings.large does not say that there may be such ones.
local function find_large_unset(P, id)
  local bytes = call('HSTRLEN', P .. 'tasks', id)
  return bytes > LARGE_MIN and call('HEXISTS', P .. 'settings', 'large') == 0 and text(bytes) or nil
end

-- mark_missing: a task has failed or crashed, and its envelope does not tell a worker to read that.
local function find_mark_missing(P, id)
  local known = call('HMGET', P .. 'info:' .. id, 'failures', 'crashes')
  if count_of(known[1]) + count_of(known[2]) == 0 then return end
  local envelope = call('HGET', P .. 'tasks', id)
  return envelope and sub(envelope, 1, 2) == '{"' and not has_info(envelope) and '' or nil
end
