-- Tasks that go back to the front in several calls stand among each other, and among what waits, as if they went back
-- in one: groups take turns among all that a page of leases has. Each call gives back those that are last; where the
-- turns of a page began is handed from call to call.
--
-- Only hints are read here, as one that is wrong puts a task elsewhere in its own band and no more: of a header that is
-- long or written otherwise, no group.
--
-- requires: base, requeue_front, requeue_one, sequence
-- gives: last_turns

local function field_of(line, name, pattern)
  local at = find(line, name, 1, true)
  return at and match(line, pattern, at + #name)
end

local function turn_of(id, envelope)
  local line = sub(envelope or '', 1, (find(envelope or '', '\n', 1, true) or 1) - 1)
  local priority = tonumber(field_of(line, '"priority":', '^%-?%d+')) or 0
  local weight = tonumber(field_of(line, '"weight":', '^%d+')) or 1
  return max(@PRIORITY_MIN@, min(priority, @PRIORITY_MAX@)), {id, field_of(line, '"group":"', '^[^"\\]+'),
    max(1, min(weight, @TASK_WEIGHT_MAX@))}
end

-- Where the first of these tasks of a band is to stand.
local function first_turn(P, priority, tasks)
  local head, ends, room = head_score(P, priority * BAND), {}, 1
  for _, task in ipairs(tasks) do ends[task[2] or ''] = task[4] end
  local groups, lanes = {}, {}
  for group in pairs(ends) do
    if group ~= '' then groups[#groups + 1], lanes[#lanes + 1] = group, text(priority) .. ':' .. group end
  end
  local lasts = #lanes > 0 and call('ZMSCORE', P .. 'groups', unpack(lanes)) or {}
  for i, group in ipairs(groups) do
    if not head or (tonumber(lasts[i]) or -1e300) >= head then room = max(room, ends[group] + 1) end
  end
  if ends[''] and (not head or last_of_lane(P, priority) >= head) then room = max(room, ends[''] + 1) end
  return (head or virtual_time(order_open(P), priority)) - room
end

-- Whether some of these tasks may have groups.
local function has_groups(envelopes)
  for i = 1, #envelopes do
    local envelope = envelopes[i] or ''
    if find(sub(envelope, 1, find(envelope, '\n', 1, true) or 0), '"group":"', 1, true) then return true end
  end
  return false
end

-- leases: as from leases_of. from: what the last call returned, or ''. Returns those that are to go back now, at most
-- `most`, in their order; {places: id -> behind the first, firsts: priority -> its score} for to_front, nil where these
-- are all and no others went before; and what to hand to the next call, '' where these are all.
local function last_turns(P, leases, most, from)
  local ids, bands, all, turns, chosen, some = {}, {}, {}, {places = {}, firsts = {}}, {}, {}
  most = min(most, 128)
  if #leases == 0 or from == '' and #leases <= most then return leases, nil, '' end
  for i = 1, #leases do ids[i] = leases[i][1] end
  local envelopes = call('HMGET', P .. 'tasks', unpack(ids))
  -- Without groups they stand as they were leased.
  if from == '' and not has_groups(envelopes) then return {unpack(leases, #leases - most + 1)}, nil, '' end
  end_next(P)
  for i, envelope in ipairs(envelopes) do
    local priority, task = turn_of(ids[i], envelope)
    bands[priority] = bands[priority] or {}
    table.insert(bands[priority], task)
  end
  for priority, first in string.gmatch(from, '(%-?%d+) (%-?%d+)') do turns.firsts[tonumber(priority)] = tonumber(first) end
  local words = {}
  for priority, tasks in pairs(bands) do
    spread(tasks)
    local first = turns.firsts[priority] or first_turn(P, priority, tasks)
    turns.firsts[priority], words[#words + 1] = first, text(priority) .. ' ' .. text(first)
    for _, task in ipairs(tasks) do
      turns.places[task[1]] = task[4]
      all[#all + 1] = task
    end
  end
  if #leases <= most then return leases, turns, '' end
  -- Each band is sorted.
  if #words > 1 then table.sort(all, function(a, b) return a[4] < b[4] or a[4] == b[4] and a[1] < b[1] end) end
  for i = #all - most + 1, #all do chosen[all[i][1]] = true end
  for _, lease in ipairs(leases) do
    if chosen[lease[1]] then some[#some + 1] = lease end
  end
  return some, turns, table.concat(words, ' ')
end
