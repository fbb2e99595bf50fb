-- What a filter asks of a task besides its state, kind, type, tag and age. A script has it as arguments: names, each
-- with its value; all of them must hold.
--
--   id            the first bytes of the task's id
--   group         its group
--   payload       bytes that its payload contains
--   meta          two values: a key of its metadata, and the text there; may be given several times
--   worker        the id of the worker that runs it; of a completed task, whose run is recorded (`run`), of the one
--                 that ran it
--   failed        "1": an attempt of it has failed; "0": none has
--   enqueued_from, enqueued_to, due_from, due_to, ended_from, ended_to
--                 ms: the first time, and the one behind the last, at which it was enqueued, is due (a scheduled task)
--                 or ended
--   limit         how many tasks a call selects at most
--   parents       "1": parents and children of a blocked task are returned with it
--
-- requires: base, budget, state_kinds, whole
-- gives: filter_of, selects

local TEXTS = ' id group payload worker failed parents '
local NUMBERS = ' enqueued_from enqueued_to due_from due_to ended_from ended_to limit '
local BYTES_A_COMMAND = 4096

-- given: a script's arguments, those of the filter from `at` on. Returns nil where they are none.
local function filter_of(given, at)
  local filter = {meta = {}}
  while given[at] do
    local name, value = given[at], given[at + 1]
    local word = ' ' .. name .. ' '
    if name == 'meta' then
      if not value or not given[at + 2] then return nil end
      filter.meta[#filter.meta + 1] = {value, given[at + 2]}
      at = at + 1
    elseif value and find(TEXTS, word, 1, true) then
      filter[name] = value
    else
      filter[name] = find(NUMBERS, word, 1, true) and whole(value, name == 'limit' and 1 or 0, INT64) or nil
      if not filter[name] then return nil end
    end
    at = at + 2
  end
  return filter
end

local function is_within(time, from, to)
  return not from and not to or time and (not from or time >= from) and (not to or time < to)
end

-- What a header does not have, as other scripts do not read it.
local function has_meta(meta, envelope)
  if #meta == 0 then return true end
  local line = sub(envelope, 1, (find(envelope, '\n', 1, true) or 1) - 1)
  if not find(line, '"meta":', 1, true) then return false end
  budget.left = budget.left - 1 - math.floor(#line / 48)
  local has = (decoded(line) or {}).meta
  if type(has) ~= 'table' then return false end
  for _, pair in ipairs(meta) do
    if has[pair[1]] ~= pair[2] then return false end
  end
  return true
end

local function is_of_worker(P, filter, id, envelope, state, session)
  if state == 'completed' then
    local run = has_info(envelope) and call('HGET', P .. 'info:' .. id, 'run')
    session = run and match(run, '(%S+)$')
  end
  return session and sub(session, 1, #filter.worker + 1) == filter.worker .. '-'
end

-- o: the task's header. session: of a running task.
local function selects(P, filter, id, envelope, o, state, score, session)
  if filter.id and sub(id, 1, #filter.id) ~= filter.id then return false end
  if filter.group and o.group ~= filter.group then return false end
  if not is_within(o.at or 0, filter.enqueued_from, filter.enqueued_to) then return false end
  if not is_within(state == 'scheduled' and score, filter.due_from, filter.due_to) then return false end
  if not is_within(is_ended(state) and score, filter.ended_from, filter.ended_to) then return false end
  if filter.payload then
    budget.left = budget.left - math.floor(#envelope / BYTES_A_COMMAND)
    if not find(envelope, filter.payload, (find(envelope, '\n', 1, true) or 0) + 1, true) then return false end
  end
  if not has_meta(filter.meta, envelope) then return false end
  if filter.worker and not is_of_worker(P, filter, id, envelope, state, session) then return false end
  if not filter.failed then return true end
  local failures = has_info(envelope) and count_of(call('HGET', P .. 'info:' .. id, 'failures')) or 0
  return (filter.failed == '1') == (failures > 0)
end
