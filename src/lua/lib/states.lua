-- The states of several tasks, each as in lib/task_state.lua: {state, score, session, lease}, or nil where no key has
-- it.
--
-- requires: base, task_state
-- gives: states_of

-- Each session is asked once for all tasks that are in no set: so many fields in all, about 0.2 us each, where asking a
-- session costs as much as FIELDS_A_CALL of them.
local FIELDS_MOST, FIELDS_A_CALL = 16000, 5

-- Returns whether all were found.
local function look_in_sets(P, ids, found)
  local left = #ids
  for _, set in ipairs({@STATE_SETS@}) do
    local scores = call('ZMSCORE', P .. set, unpack(ids))
    for i = 1, #ids do
      if scores[i] and not found[i] then found[i], left = {set, scores[i]}, left - 1 end
    end
    if left == 0 then return true end
  end
end

local function look_in_sessions(P, names, places, found)
  local reaped = call('ZCOUNT', P .. 'sessions', '-inf', '0')
  for i, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    local leases = call('HMGET', P .. (i > reaped and 'running:' or 'lost:') .. session, unpack(names))
    for j = 1, #names do
      if leases[j] then found[places[j]] = {'running', '', session, leases[j]} end
    end
  end
end

local function look_in_retained(P, names, places, found)
  local scores = call('ZMSCORE', P .. 'retained', unpack(names))
  for j = 1, #names do
    if scores[j] and not found[places[j]] then found[places[j]] = {'completed', scores[j]} end
  end
end

-- wanted: a state, where only tasks in this one matter, or ''. Returns the states, and of how many of the ids, the
-- first ones, these are: fewer than all where there are many sessions, at least one.
local function states_of(P, ids, wanted)
  local found, names, places, count = {}, {}, {}, #ids
  if count == 0 or look_in_sets(P, ids, found) then return found, count end
  local asks = wanted == '' or wanted == 'running'
  local most = asks and FIELDS_MOST / math.max(1, call('ZCARD', P .. 'sessions')) - FIELDS_A_CALL or count
  for i = 1, #ids do
    local score = not found[i] and in_segment(P, ids[i])
    if score then
      found[i] = {'ready', score}
    elseif not found[i] then
      if #names > 0 and #names >= most then
        count = i - 1
        break
      end
      names[#names + 1], places[#names + 1] = ids[i], i
    end
  end
  if #names > 0 then
    if asks then look_in_sessions(P, names, places, found) end
    look_in_retained(P, names, places, found)
  end
  return found, count
end
