-- How check.lua goes through `tasks`: tasks of a page are looked for in all states together.
--
-- requires: base, budget, task_state, check_walk
-- gives: walk_tasks

local SETS = {@WAITING_SETS@, @RETAINED_SETS@}
local FIELDS_MAX, IDS_MAX = 3000, 64

-- In how many sorted sets each id is.
local function count_places(P, ids)
  local places = {}
  for i = 1, #ids do places[i] = 0 end
  for _, set in ipairs(SETS) do
    local scores = call('ZMSCORE', P .. set, unpack(ids))
    for i = 1, #ids do
      if scores[i] then places[i] = places[i] + 1 end
    end
  end
  budget.left = budget.left - #ids
  return places
end

-- The same of leases. names: ids that are in no set, and their places in ids. A hash of another type is a finding of
-- its own.
local function add_leases(P, names, at, places)
  if #names == 0 then return end
  local reaped = call('ZCOUNT', P .. 'sessions', '-inf', '0')
  local sessions = call('ZRANGE', P .. 'sessions', 0, -1)
  for i = 1, #sessions do
    local leases = redis.pcall('HMGET', P .. (i > reaped and 'running:' or 'lost:') .. sessions[i], unpack(names))
    budget.left = budget.left - 1
    for j = 1, #names do
      if leases[j] then places[at[j]] = places[at[j]] + 1 end
    end
  end
end

-- What a task asks for is looked at where its header names it.
local ASKED = {['"unique":'] = 'unique_missing', ['"tags":'] = 'tag_missing', ['"deadline":'] = 'deadline_missing'}
local function look_at_header(id, envelope, suspect)
  if #envelope > LARGE then suspect('large_unset', id) end
  for words, kind in pairs(ASKED) do
    local at = find(envelope, words, 1, true)
    if at and at < (find(envelope, '\n', 1, true) or 0) then suspect(kind, id) end
  end
end

-- Those of the ids that are in no set, as many as there is room for: each session is asked for them. Returns how many
-- of the ids these cover, too.
local function unplaced(P, ids, places)
  local names, at = {}, {}
  local most = max(1, math.floor(FIELDS_MAX / max(1, call('ZCARD', P .. 'sessions'))))
  for i = 1, #ids do
    if places[i] == 0 then
      if #names == most then return names, at, i - 1 end
      names[#names + 1], at[#at + 1] = ids[i], i
    end
  end
  return names, at, #ids
end

-- Looks at some tasks. Returns as walk_key does: one page of HSCAN, or a part of it, is looked at.
local function walk_tasks(P, place, suspect)
  local ids, envelopes, at_places = {}, {}, {}
  local next_place, seen = walk_key('HSCAN', P .. 'tasks', place, P, function(id, envelope, here)
    ids[#ids + 1], envelopes[#ids + 1], at_places[#ids + 1] = id, envelope, here
    return #ids >= IDS_MAX
  end)
  if #ids == 0 then return next_place, seen end
  local places, known = count_places(P, ids), {}
  for i = 1, #ids do
    local p = segment_of(envelopes[i])
    if p and not known[p] then known[p] = redis.pcall('TYPE', P .. 'segment:' .. p).ok end
    if p and known[p] == 'list' and in_segment(P, ids[i]) then places[i] = places[i] + 1 end
  end
  local names, at, count = unplaced(P, ids, places)
  add_leases(P, names, at, places)
  for i = 1, count do
    if places[i] == 0 then suspect('task_lost', ids[i]) end
    if places[i] > 1 then suspect('task_twice', ids[i]) end
    look_at_header(ids[i], envelopes[i], suspect)
  end
  if count < #ids then
    -- The next call looks at the others, and asks the sessions again.
    budget.left = 0
    return at_places[count], count
  end
  return next_place, seen
end
