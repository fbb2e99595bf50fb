-- Findings about segments (lib/segment.lua): the members of `ready`, the lists and the set belong together.
-- lib/check_states.lua says what a finding is.
--
-- requires: base
-- gives: find_segment_empty, find_segment_id, find_segment_lost, find_segment_unlisted

-- segment_lost: the tasks of segment:<p> are not in `ready`.
local function find_segment_lost(P, p)
  local length = call('LLEN', P .. 'segment:' .. p)
  return length > 0 and not call('ZSCORE', P .. 'ready', '+' .. p) and text(length) or nil
end

-- segment_empty: `ready` or `segments` has a segment without tasks. A task of another program may have such an id.
local function find_segment_empty(P, p)
  if call('EXISTS', P .. 'segment:' .. p) == 1 or call('HEXISTS', P .. 'tasks', '+' .. p) == 1 then return end
  local is_ready, is_listed = call('ZSCORE', P .. 'ready', '+' .. p), call('SISMEMBER', P .. 'segments', p) == 1
  return (is_ready or is_listed) and '' or nil
end

-- segment_unlisted: `segments` lacks a segment, so that its tasks are not found.
local function find_segment_unlisted(P, p)
  if call('EXISTS', P .. 'segment:' .. p) == 0 or not call('ZSCORE', P .. 'ready', '+' .. p) then return end
  return call('SISMEMBER', P .. 'segments', p) == 0 and '' or nil
end

-- segment_without_task: "<id> segment:<p>", and no such task exists.
local function find_segment_id(P, subject)
  local id, key = match(subject, '^(.*) (segment:%S+)$')
  if not id or call('HEXISTS', P .. 'tasks', id) == 1 then return end
  return call('LPOS', P .. key, id) and '' or nil
end
