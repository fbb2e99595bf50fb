-- Findings of check.lua and repair.lua about states: the id of each task is in exactly one of the keys of states, and
-- each id there is that of a task. A finding is a function of its subject, a text. It returns what is found, a text, or
-- nil where nothing is wrong.
--
-- requires: base, task_state
-- gives: find_lost, find_twice, find_without_task, places_of

local STATE_SETS = {@WAITING_SETS@, @RETAINED_SETS@}
-- Fields of a session's hash that are no tasks.
local OWN = {['#'] = true, ['#flushed'] = true, ['#suspect'] = true}

-- Each place where an id stands: {key, score or lease}. The key of a task in a segment is "segment:<p>".
local function places_of(P, id)
  local places = {}
  for i = 1, #STATE_SETS do
    local score = call('ZSCORE', P .. STATE_SETS[i], id)
    if score then places[#places + 1] = {STATE_SETS[i], score} end
  end
  local envelope = call('HGET', P .. 'tasks', id)
  local p = in_segment(P, id) and segment_of(envelope)
  if p then places[#places + 1] = {'segment:' .. p} end
  if OWN[id] then return places end
  local reaped = call('ZCOUNT', P .. 'sessions', '-inf', '0')
  for i, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    local key = (i > reaped and 'running:' or 'lost:') .. session
    local lease = call('HGET', P .. key, id)
    if lease then places[#places + 1] = {key, lease} end
  end
  if #places == 0 then p = search_segments(P, id) end
  if p and #places == 0 then places[1] = {'segment:' .. p} end
  return places
end

-- task_lost: a task is in no state.
local function find_lost(P, id)
  return call('HEXISTS', P .. 'tasks', id) == 1 and #places_of(P, id) == 0 and '' or nil
end

-- task_twice: a task is in two states.
local function find_twice(P, id)
  if call('HEXISTS', P .. 'tasks', id) == 0 then return end
  local places, keys = places_of(P, id), {}
  if #places < 2 then return end
  for i = 1, #places do keys[i] = places[i][1] end
  return table.concat(keys, ', ')
end

-- state_without_task: "<key> <id>", and no such task exists. A segment in `ready` is no task.
local function find_without_task(P, subject)
  local key, id = match(subject, '^(%S+) (.*)$')
  if not id or call('HEXISTS', P .. 'tasks', id) == 1 then return end
  if match(key, '^running:') or match(key, '^lost:') then
    return byte(id) ~= 35 and call('HEXISTS', P .. key, id) == 1 and '' or nil
  end
  if key == 'ready' and byte(id) == SEGMENT then return end
  return call('ZSCORE', P .. key, id) and '' or nil
end
