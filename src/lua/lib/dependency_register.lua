-- Registers children with their parents. An edge (lib/dependency_edges.lua) is a pair of a parent and a child; it is
-- given as {handle of the parent, policy}. The policy has one or two letters. The first one decides what the end of the
-- parent means for the child: f, g, w or x (lib/dependency_edges.lua). The second one decides what happens if the queue
-- of the parent has neither the parent nor a record of it:
--   none   the edge is refused: "unknown". But if the id shows that the record was removed (was_there), the parent
--          counts as completed
--   g      known or gone: the parent counts as completed
--   e      expected: the parent has not been enqueued yet, and the child waits for it
--   r, d   a retried child gets its edge again, which had not ended (r) or had ended badly (d). If the parent has died,
--          and its death would end the child again, the child waits for a retry of the parent. A parent without a
--          record counts as completed (r) or is "gone" (d)
--
-- requires: base, retention, dependency_edges, edge, messages, readers, reads
-- gives: attach, how_ended, missing_parent, register, state_of

-- The time at which an id was made, in ms since the epoch, if it is a UUIDv7; else nil.
local function made_at(id)
  if not find(id, '^%x%x%x%x%x%x%x%x%-%x%x%x%x%-7%x%x%x%-[89abAB]%x%x%x%-%x%x%x%x%x%x%x%x%x%x%x%x$') then return end
  return tonumber(sub(id, 1, 8) .. sub(id, 10, 13), 16)
end

-- Whether a task without a record may have completed, so that the retention removed its record: its id contains the
-- time at which it was made, and records of that time are not kept any more. The clock of a client can be ahead, at
-- most MADE_AHEAD if the queue keeps no records.
local MADE_AHEAD = 3600000
local function was_there(P, id, now)
  local made = made_at(id)
  if not made then return false end
  local s = call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'completed_bytes')
  local age, count = keep_limits(s[1], s[2], DAY)
  if age == 0 or count == 0 then return made <= now + MADE_AHEAD end
  if age > 0 and made <= now - age then return true end
  local trims = s[3] or count > 0 and call('ZCARD', P .. 'completed') >= count
  local oldest = trims and tonumber(call('ZRANGE', P .. 'completed', '0', '0', 'WITHSCORES')[2])
  return oldest and made <= oldest
end

-- Adds to states (id -> state) the states of these tasks: "unknown", "completed" (also if only readers keep the record,
-- lib/readers.lua), "dead", "cancelled", or "live" (it has not ended).
local PAGE = 500
local ENDED_SETS = {@RETAINED_SETS@}
local function look_up(P, ids, states)
  for first = 1, #ids, PAGE do
    local last = math.min(first + PAGE - 1, #ids)
    for i = 1, #ENDED_SETS do
      local scores = call('ZMSCORE', P .. ENDED_SETS[i], unpack(ids, first, last))
      for j = first, last do
        if scores[j - first + 1] then states[ids[j]] = ENDED_SETS[i] == 'retained' and 'completed' or ENDED_SETS[i] end
      end
    end
    for j = first, last do
      if not states[ids[j]] then states[ids[j]] = call('HEXISTS', P .. 'tasks', ids[j]) == 1 and 'live' or 'unknown' end
    end
  end
end

local function state_of(P, id, states)
  if not states[id] then look_up(P, {id}, states) end
  return states[id]
end

-- How a parent has ended for this edge; nil: the child waits for it. states: of parents that were looked up before in
-- this call.
local function how_ended(P, parent_id, policy, states, now)
  local state, letter, mode = state_of(P, parent_id, states), sub(policy, 1, 1), sub(policy, 2, 2)
  if state == 'completed' then return state end
  if state == 'unknown' then
    if mode == 'e' then return nil end
    if mode == 'd' then return 'gone' end
    if mode == 'g' or mode == 'r' then return 'completed' end
    return was_there(P, parent_id, now) and 'completed' or state
  end
  if state == 'live' or letter == 'w' then return nil end
  if letter == 'f' and (mode == 'r' or mode == 'd') then return nil end
  return state
end

-- Registers the child, which is notified when the parent ends. number: of the edge. by_message: an earlier message may
-- arrive after a later one, whose edge then stays.
local waiters_are_set = false
local function register(P, parent_id, child, policy, number, by_message)
  local set, other = 'children:', 'awaiting_retry:'
  if sub(policy, 1, 1) == 'w' then set, other = other, set end
  local had_none, key = call('SADD', P .. 'linked', parent_id) == 1, P .. set .. parent_id
  local later = by_message and not had_none and call('ZSCORE', P .. other .. parent_id, child)
  if later and tonumber(later) > tonumber(number) then return end
  local added = by_message and call('ZADD', key, 'GT', number, child) or call('ZADD', key, number, child)
  -- It may have waited by another policy.
  if added == 1 and not had_none then call('ZREM', P .. other .. parent_id, child) end
  if not waiters_are_set then call('HSET', P .. 'settings', 'waiters', '1') end
  waiters_are_set = true
end

-- Returns the first parent of these edges that is in this queue, has no record, and must be known; nil: there is none.
-- comes: id -> true, of tasks that this call enqueues. states: as above.
local function missing_parent(P, edges, now, comes, states)
  local queue, ids, unseen = own_queue(P), {}, {}
  for _, edge in ipairs(edges) do
    local theirs, parent_id = parts(edge[1])
    if theirs == queue and #edge[2] == 1 and not (comes and comes[parent_id]) then
      ids[#ids + 1] = parent_id
      if not states[parent_id] then unseen[#unseen + 1] = parent_id end
    end
  end
  look_up(P, unseen, states)
  for _, id in ipairs(ids) do
    if states[id] == 'unknown' and not was_there(P, id, now) then return id end
  end
end

-- Adds edges to a child. It is called by `attach`, with a page of the edges, numbered from `first` to `last`. Returns
-- the fields to write into parents:<id>, and adds to result what `attach` returns.
local function attach_page(P, id, edges, first, last, now, states, result, anew)
  local queue, known = own_queue(P), result.known
  local child, handles, ids, queues, parent_ids = queue .. '/' .. id, {}, {}, {}, {}
  for i = first, last do
    edges[i][1] = canonical(edges[i][1])
    handles[#handles + 1] = edges[i][1]
    local theirs, parent_id = parts(edges[i][1])
    queues[i], parent_ids[i] = theirs, parent_id
    if theirs == queue and not states[parent_id] then ids[#ids + 1] = parent_id end
  end
  -- A small hash is a list, which each field that is asked for would be searched for.
  local there, fields = result.large and call('HMGET', P .. 'parents:' .. id, unpack(handles)) or {}, {}
  look_up(P, ids, states)
  for i = first, last do
    local parent, policy = edges[i][1], edges[i][2]
    local letter, old = sub(policy, 1, 1), known[parent] or there[i - first + 1]
    local lives = old and sub(old, 2, 2) == '-' and is_made(old, anew)
    if not (lives and sub(old, 1, 1) == letter) then
      local theirs, parent_id = queues[i], parent_ids[i]
      local state, number = nil, anew
      if theirs == queue then
        state = how_ended(P, parent_id, policy, states, now)
        if not state then
          result.number = result.number or serial(P)
          number = result.number
          register(P, parent_id, child, policy, number)
        end
        -- Not one that is not known and counts as completed.
        if state and states[parent_id] == 'completed' then
          readers.read(P, id, parent)
          readers.add(P, parent_id, {'0', child})
        end
      elseif theirs then
        number = send(P, 'R', child .. ' ' .. parent .. ' ' .. policy)
        result.sent = true
      end
      local place = old and string.match(old, '^..(%d+)') or text(result.place)
      if not old then result.place = result.place + 1 end
      local is_expected = theirs and theirs ~= queue and sub(policy, 2, 2) == 'e'
      local value = letter .. (state and HOW[state] or '-') .. place .. (is_expected and ' e' or '') .. (number and ' ' .. number or '')
      fields[#fields + 1], fields[#fields + 2], known[parent] = parent, value, value
      result.death = result.death or letter == 'x'
      if not lives and not state then result.pending = result.pending + 1 end
      if lives and state then
        result.pending = result.pending - 1
        if theirs == queue then unlink_edge(P, queue, id, parent) end
      end
      local bad = state == 'unknown' or state and state ~= 'completed' and state ~= 'gone' and letter ~= 'g'
      if bad and not result.died then
        result.died, result.decides = {parent, state}, state == 'unknown' and 'f' or letter
      end
    end
  end
  return fields
end

-- Adds edges to a child. edges: {handle, policy} of each; handles that begin with "!" are placeholders and signals. An
-- edge that exists stays as it is, unless it has ended or gets another policy: then it is made again. known: the number
-- of edges that the child has, if that was read. anew: a number; edges of this list that have lower numbers, or none,
-- are not registered with their parents, and are made again, with that number or a higher one (lib/restore.lua).
-- Returns how many parents more the child waits for; {handle, state} of the first parent that died or is unknown, or
-- nil; and the letter of the policy that applies to it.
local function attach(P, id, edges, now, states, known, anew)
  local key, fields = P .. 'parents:' .. id, {}
  local result = {pending = 0, place = known or call('HLEN', key), known = {}}
  result.large = result.place > 2 * PAGE
  if result.place > 0 and not result.large then
    local there = call('HGETALL', key)
    for i = 1, #there, 2 do result.known[there[i]] = there[i + 1] end
  end
  for first = 1, #edges, PAGE do
    local page = attach_page(P, id, edges, first, math.min(first + PAGE - 1, #edges), now, states, result, anew)
    for i = 1, #page do fields[#fields + 1] = page[i] end
  end
  -- All at once, so that Redis does not make a large list first.
  for first = 1, #fields, 4000 do
    call('HSET', key, unpack(fields, first, math.min(first + 3999, #fields)))
  end
  if result.death then call('HSET', P .. 'info:' .. id, 'death', '1') end
  if result.sent then announce_due(P, now) end
  return result.pending, result.died, result.decides
end
