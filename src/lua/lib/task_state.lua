-- The state of a task, which follows from the keys that contain its id. task_state returns the state, the score there,
-- and for running tasks the session and the lease ("<since ms> <thread>"); nothing if the task is in no state.
--
-- requires: base
-- gives: in_segment, is_waiting, search_segments, searched_state, task_state

-- The place of a task that is in a segment (lib/segment.lua), or nil.
local function in_segment(P, id)
  if call('EXISTS', P .. 'segments') == 0 then return end
  local envelope = call('HGET', P .. 'tasks', id)
  local p = envelope and segment_of(envelope)
  local first = p and call('ZSCORE', P .. 'ready', '+' .. p)
  local place = first and call('LPOS', P .. 'segment:' .. p, id)
  return place and text(tonumber(first) + @SCORE_STEP@ * place)
end

local STATE_KEYS = {@STATE_SETS@}
local function task_state(P, id)
  for i = 1, #STATE_KEYS do
    local score = call('ZSCORE', P .. STATE_KEYS[i], id) or i == 1 and in_segment(P, id)
    if score then return STATE_KEYS[i], score end
  end
  -- Sessions that are being reaped come first, with the score 0. Their leases are in lost:<session>.
  local reaped = call('ZCOUNT', P .. 'sessions', '-inf', '0')
  for i, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    local lease = call('HGET', P .. (i > reaped and 'running:' or 'lost:') .. session, id)
    if lease then return 'running', '', session, lease end
  end
  -- Its retention has ended, but it has readers (lib/readers.lua).
  local ended = call('ZSCORE', P .. 'retained', id)
  if ended then return 'completed', ended end
end

-- Searches all segments for a task, if there are few. Needed if another program overwrote the envelope, so that it does
-- not name the segment any more. Returns p of the segment, and the position there, from 0; or nil.
local function search_segments(P, id)
  if call('SCARD', P .. 'segments') > 100 then return end
  for _, p in ipairs(call('SMEMBERS', P .. 'segments')) do
    local place = call('LPOS', P .. 'segment:' .. p, id)
    if place then return p, place end
  end
end

-- The same as task_state; it also searches segments if no other key contains the task.
local function searched_state(P, id)
  local state, score, session, lease = task_state(P, id)
  if state then return state, score, session, lease end
  local p, place = search_segments(P, id)
  local first = p and call('ZSCORE', P .. 'ready', '+' .. p)
  if first then return 'ready', text(tonumber(first) + @SCORE_STEP@ * place) end
end

-- Whether a state is one of those in which a task waits. state: nil if there is no such task.
local WAITING = {@WAITING_STATES@}
local function is_waiting(state)
  return WAITING[state]
end
