-- Enqueues tasks with and without options: what enqueue.lua does where a call is not common. made: where it notes what it
-- makes, id -> its options. Returns the reply.
--
-- requires: base, options, sequence, wake_one, transitions
-- gives: enqueue_any

local function enqueue_any(P, ARGV, time, made)
  -- What only some tasks need. To make functions costs much, so these are made as far as they are asked for.
  local function make(what)
-- require: tags_once
    if what == 'tags_once' then return tags_once end
-- require: proof
    if what == 'proof' then return all_kept end
-- require: ties
    if what == 'times' then return add_behind end
-- require: index
    if what == 'tags' then return index_tags end
-- require: deadline
    if what == 'deadlines' then return add_deadlines end
-- require: unique
    if what == 'key' then return lock, lock_as end
-- require: event
    if what == 'events' then
      know_gate(P, 'e')
      return tell
    end
-- require: readers, dependency_register
    if what == 'parents' then return missing_parent end
-- require: dependency_death, dependency_edges
    if what == 'children' then return attach, readers, tell, dies_of, not_needed end
-- require: heirs, messages, control, task_state
    return task_state, is_waiting, own_queue, heritage, hand_over, remove
  end

  local elapsed, began = string.match(ARGV[1] or '', '^again (%d+) ?(%d*)$')
  elapsed, began = tonumber(elapsed), tonumber(began)
  local again, plainly = ARGV[1] == '1' or elapsed ~= nil, ARGV[1] == 'plain' or ARGV[1] == 'idle'
  local source, number, floor = string.match(ARGV[1] or '', '^carried ([%w._-]+) (%d+) (%d+)$')
  local laid = ARGV[1] == 'laid'
  if laid then
-- require: bulk_fallback
    local listed, wrong = bulk_fallback(P, ARGV)
    if not listed then return redis.error_reply('ERR enqueue: ' .. wrong) end
    ARGV, plainly = listed, true
  end
  local count = (#ARGV - 1) / (plainly and 2 or 3)
  if not plainly and not again and not source and ARGV[1] ~= '0' then
    return redis.error_reply('ERR enqueue: ARGV[1] is none of "0", "1", "again <ms> <at>", "plain" and "idle"')
  end
  if count % 1 ~= 0 then
    return redis.error_reply('ERR enqueue: ' .. (#ARGV - 1) .. ' arguments after ARGV[1], which are ' ..
      (plainly and '2' or '3') .. ' for each task')
  end
  if plainly then
    local listed = {'0'}
    for i = 2, count + 1 do
      listed[#listed + 1], listed[#listed + 2], listed[#listed + 3] = ARGV[i], '', ARGV[i + count]
    end
    ARGV = listed
  end
  local now = time[1] * 1000 + (time[2] - time[2] % 1000) / 1000
  local stamp = '{"at":' .. text(now) .. ','
  if count == 0 then return {} end
  -- What is unpacked below must fit on the stack of Redis's Lua.
  if count > @ENQUEUE_MAX@ then return redis.error_reply('ERR enqueue: more than @ENQUEUE_MAX@ tasks in one call') end
  local parsed, delicate = {}, nil
  for i = 1, laid and 0 or count do
    local o, fault = checked_options(ARGV[3 * i - 1], ARGV[3 * i], ARGV[3 * i + 1])
    if fault then return redis.error_reply('ERR enqueue: task ' .. i .. ' of ' .. count .. ': ' .. fault) end
    if o.tags then
      o.tags, ARGV[3 * i + 1] = make('tags_once')(o.tags, ARGV[3 * i + 1])
    end
    parsed[i] = o
    delicate = delicate or o.conflict or o.after
  end
  -- What is not of this call's tasks alone cannot be taken back.
  if delicate or source then
-- require: expect
    local fault = unfit(P)
    if fault then return fault end
  end
  local received
  if source then
-- require: received
    if was_received(P, source, number) then return {1} end
    received, again = note_received, true
  end
  local result, new, ready, later, deadlines = {}, {}, {}, {}, nil
  local known
  if count > 1 then
    local ids = {}
    for i = 1, count do ids[i] = ARGV[3 * i - 1] end
    known = call('HMGET', P .. 'tasks', unpack(ids))
  else
    known = {call('HGET', P .. 'tasks', ARGV[2])}
  end

  -- Packets that were laid and got no place (lib/bulk_insert.lua), of which tasks are sent again: p -> their ids. A client lays up
  -- to 1024 in one, and sends these again by themselves: there are not to be more than this call can do.
  local UNPLACED_MOST, unplaced, unplaced_count = 2048, {}, 0
  for i = 1, again and count or 0 do
    local p = known[i] and packet_of(known[i])
    if p and unplaced[p] == nil then
      unplaced[p] = call('SISMEMBER', P .. 'packets', p) == 0 and
        call('LRANGE', P .. 'packet:' .. p, '0', text(UNPLACED_MOST))
      unplaced_count = unplaced_count + #(unplaced[p] or {})
      if unplaced_count > UNPLACED_MOST then
        return redis.error_reply('ERR enqueue: the tasks of this call were laid together with more than ' .. UNPLACED_MOST ..
          ' others that are to be placed: send fewer in one call')
      end
    end
  end

  local order = order_open(P)
  local taken, dues, first_due, large, missing = {}, {}, nil, false, {}

  local write
  -- Tasks of this call that wait for others, {id, edges, due, priority, group, weight} each: they learn of their
  -- parents when all of the call are there, for these may be among them.
  local children, waits, parent_states = {}, nil, {} -- (of parents: lib/dependency_register.lua)
  local function make_linker()
    local attach, readers, tell, dies_of, not_needed = make('children')
    waits = {}
    -- Returns whether there is nothing to wait for.
    local function link(id, edges, due, states)
      local pending, died, policy = attach(P, id, edges, now, states)
      -- Of that others may die.
      if died then
        for known_id in pairs(states) do states[known_id] = nil end
      end
      if died and policy == 'x' then
        readers.unlink(P, id)
        return call('HDEL', P .. 'info:' .. id, 'death') == 1
      end
      if pending == 0 and not died and call('HDEL', P .. 'info:' .. id, 'death') == 0 then return true end
      waits[id] = true
      enter_blocked(P, id, text(now))
      tell(P, 'blocked', id)
      if died then return dies_of(P, id, died[1], died[2], now) end
      if pending == 0 then return not_needed(P, id) end
      call('HSET', P .. 'info:' .. id, 'pending', pending)
      if due and due > now then call('HSET', P .. 'info:' .. id, 'due', text(due)) end
    end
    return function()
      local list, states, free = children, parent_states, {}
      children = {}
      for _, child in ipairs(list) do
        if link(child[1], child[2], child[3], states) then free[#free + 1] = child end
        states[child[1]] = nil -- (it may have died of that, or be gone)
      end
      order = order_open(P)
      for _, child in ipairs(free) do
        local due = child[3]
        if due and due > now then
          dues[child[1]] = text(due)
          later[#later + 1], first_due = due, math.min(first_due or due, due)
          later[#later + 1] = child[1]
        else
          ready[#ready + 1] = text(next_score(order, child[4], child[5], child[6]))
          ready[#ready + 1] = child[1]
        end
      end
      write()
    end
  end

  local linker, unknown_parent
  -- Parents of this queue must be known, or be among the tasks of this call that are not refused. (Of a message nobody
  -- hears that it was refused: such a task dies of it.)
  local function make_unknown_parent()
    local missing_parent = make('parents')
    return function(after, i)
      local comes = {}
      for j = 1, count do comes[ARGV[3 * j - 1]] = j > i or taken[ARGV[3 * j - 1]] or nil end
      return missing_parent(P, after, now, comes, parent_states)
    end
  end

  function write()
    if #new > 0 then call('HSET', P .. 'tasks', unpack(new)) end
    if large then call('HSET', P .. 'settings', 'large', '1') end
    if #ready > 0 then
      order_save(order)
      -- Not all at once: see above.
      for first = 1, #ready, 4000 do
        enter_ready(P, ready, first, math.min(first + 3999, #ready))
      end
      wake_one(P)
    end
    if #later > 0 then
      local head = call('ZRANGE', P .. 'scheduled', '0', '0', 'WITHSCORES')
      make('times')(P .. 'scheduled', later)
      if not head[2] or first_due < tonumber(head[2]) then announce_due(P, first_due) end
    end
    if deadlines then deadlines.write() end
    new, ready, later, first_due, deadlines = {}, {}, {}, nil, nil
    if #children > 0 then
      linker = linker or make_linker()
      linker()
    end
  end

  -- Tasks that must have begun by a time.
  local function make_deadlines()
    local members, first = {}, nil
    local function add(id, at)
      members[#members + 1] = text(at)
      members[#members + 1] = id
      first = math.min(first or at, at)
    end
    return {add = add, write = function() make('deadlines')(P, members, first) end}
  end

  local function forget_id(id)
    taken[id], dues[id], parent_states[id] = nil, nil, nil
    for i = 1, count do
      if ARGV[3 * i - 1] == id then known[i] = false end
    end
  end

  -- The key is ours, or who holds it. With its place, {set, score}, when we take that of the task that had it; with the
  -- priority and the rest of the envelope, which says it: that one's where we have none; and, where that one is blocked
  -- and we name no parents, with its parents and its time.
  local function make_claim()
    local lock, lock_as = make('key')
    local task_state, is_waiting, own_queue, heritage, hand_over, remove
    -- A task has the priority of the one that it replaced: its header says so where it would have said it (reschedule.lua).
    local function with_priority(rest, priority)
      local head, tail = string.match(rest, '^("type":"[^"]*")(.*)$')
      local due = string.match(tail, '^,"due":%d+') or string.match(tail, '^,"delay":%d+') or ''
      return head .. due .. ',"priority":' .. text(priority) .. sub(tail, #due + 1)
    end
    return function(id, o, rest)
      local holder = lock(P, id, o)
      if not holder then return end
      if not o.conflict then return holder end
      if not task_state then task_state, is_waiting, own_queue, heritage, hand_over, remove = make('replacement') end
      write() -- (the holder may have come in this very call)
      local envelope = call('HGET', P .. 'tasks', holder)
      if not envelope then
        -- It was not needed, and has gone with its key; or its key is held for a time.
        forget_id(holder)
        return lock(P, id, o)
      end
      local state, score = task_state(P, holder)
      if not is_waiting(state) then return holder end
      local old = header(envelope)
      -- A key that is held for a time may outlive its task, and then another come under that id.
      if old.unique ~= o.unique then return holder end
      -- A task that waits for the holder cannot stand in its place.
      for _, edge in ipairs(o.after or {}) do
        if edge[1] == own_queue(P) .. '/' .. holder then return holder end
      end
      local parents, kept_due
      if state == 'blocked' and not o.after then
        parents = heritage(P, holder, id)
        if not parents then return holder end
        if #parents == 0 then parents = nil end
        kept_due = o.conflict == 'replace' and not o.at and not o['in'] and
          tonumber(call('HGET', P .. 'info:' .. holder, 'due'))
      end
      if not hand_over(P, holder, id) then return holder end
      remove(P, holder, envelope, state)
      lock_as(P, id, o)
      order = order_open(P)
      -- Of this call, too: its id is free again.
      forget_id(holder)
      if o.conflict == 'debounce' then return nil, nil, nil, nil, parents end
      local priority, known = o.priority or old.priority or 0, old.priority or 0
      if not o.priority and known ~= 0 then rest = with_priority(rest, known) end
      if o.at or o['in'] or state == 'blocked' or state ~= 'scheduled' and known ~= priority then
        return nil, nil, priority, rest, parents, kept_due or nil
      end
      return nil, {state == 'parked' and 'ready' or state, score}, priority, rest
    end
  end

  -- Whether an envelope is the one that we bring, but that it says something else of its time by now
  -- (lib/schedule.lua).
  local same_but_time = again and function(envelope, rest, o)
    local keeps = o and o.conflict == 'replace' and not o.priority
    local function timeless(line)
      local head, tail = string.match(line, '^("type":"[^"]*")(.*)$')
      if not head then return line end
      tail = string.gsub(string.gsub(tail, '^,"due":%d+', ''), '^,"delay":%d+', '')
      return head .. (keeps and string.gsub(tail, '^,"priority":%-?%d+', '') or tail)
    end
    return timeless(sub(envelope, find(envelope, '"type":', 1, true) or 1)) == timeless(rest)
  end

  -- Those that were laid together with this one and got no place get theirs.
  local placed = {}
  local function place_laid(envelope)
    local p = packet_of(envelope)
    if not p or placed[p] or not unplaced[p] then return end
    placed[p] = true
    for _, id in ipairs(unplaced[p]) do
      ready[#ready + 1] = text(next_score(order))
      ready[#ready + 1] = id
      taken[id] = true
    end
  end

  -- Whether all tasks that have ended since the first copy was sent still have their records. Records go oldest first, by
  -- age, number and bytes; so they have when an older one is there, or, where only the number is limited, room is left.
  -- A key that the task still has says that it came.
  local proven
  local function is_proven(id, o)
    if proven == nil then proven = make('proof')(P, now, elapsed, began) end
    if proven then return true end
    missing[id] = o and o.unique and call('GET', P .. 'unique:' .. o.unique) == id and 1 or -1
  end

  local claim, tagging
  for i = 1, count do
    local id, options, rest = ARGV[3 * i - 1], ARGV[3 * i], ARGV[3 * i + 1]
    if known[i] or taken[id] then
      result[i] = 0
      if again and known[i] and (sub(known[i], -#rest) == rest or same_but_time(known[i], rest, parsed[i])) then
        result[i] = 1
        place_laid(known[i])
      end
    elseif elapsed and not is_proven(id, parsed[i]) then
      result[i] = missing[id]
    else
      local due, priority, group, weight, holder, place, deadline, tags, after
      local mark = stamp
      if options ~= '' then
        local o = parsed[i]
        due, priority, group, weight = o.at or o['in'] and now + o['in'], o.priority, o.group, o.weight
        if due then due = math.min(due, LATEST) end
        after = o.after
        if after then
          mark = '{"info":1,' .. sub(stamp, 2)
          unknown_parent = unknown_parent or make_unknown_parent()
          holder = not source and unknown_parent(after, i)
          holder = holder and 'unknown ' .. holder
        end
        if o.unique and not holder then
          made[id] = o
          claim = claim or make_claim()
          local kept, said, parents, kept_due
          holder, place, kept, said, parents, kept_due = claim(id, o, rest)
          priority, rest, due = kept or priority, said or rest, due or kept_due
          if parents then after, mark = parents, '{"info":1,' .. sub(stamp, 2) end
          -- Marked, so that whoever leases it looks.
          if o['until'] and not o.after then mark = '{"info":1,' .. sub(stamp, 2) end
        end
        deadline = o.deadline or o.expires and now + o.expires
        if o.tags then
          tags = o.tags
          if not tagging then
            local keep = call('HMGET', P .. 'settings', 'completed_age', 'completed_count')
            -- (marks: whoever settles the task must look for its tags, because its record goes with its end.)
            tagging = {index = make('tags'), marks = keep[1] == '0' or keep[2] == '0'}
          end
          if tagging.marks then mark = '{"info":1,' .. sub(stamp, 2) end
        end
      end
      if holder then
        result[i] = again and holder == id and 1 or holder
      else
        result[i], taken[id] = 1, true
        made[id] = made[id] or parsed[i] or {}
        if deadline then
          deadline = math.max(0, math.min(deadline, LATEST))
          deadlines = deadlines or make_deadlines()
          deadlines.add(id, deadline)
          mark = mark .. '"deadline":' .. text(deadline) .. ','
        end
        new[#new + 1] = id
        new[#new + 1] = mark .. rest
        large = large or #rest > LARGE
        if tags then tagging.index(P, id, tags, now) end
        if after then
          children[#children + 1] = {id, after, due, priority, group, weight}
        elseif place then
          enter_state(P, place[1], id, place[2])
          if place[1] == 'ready' then wake_one(P) else dues[id] = text(place[2]) end
        elseif due and due > now then
          dues[id] = text(due)
          later[#later + 1] = due
          later[#later + 1] = id
          first_due = math.min(first_due or due, due)
        else
          ready[#ready + 1] = text(next_score(order, priority, group, weight))
          ready[#ready + 1] = id
        end
      end
    end
  end

  write()
  for p in pairs(placed) do call('DEL', P .. 'packet:' .. p) end
  if received then received(P, source, number, floor) end

  if not order.looked and next(taken) then order.told = call('HGET', P .. 'order', 'events') end
  if order.told then
    local tell = make('events')
    local enqueued, scheduled, times = {}, {}, {}
    for i = 1, count do
      local id = ARGV[3 * i - 1]
      local list = taken[id] and not (waits and waits[id]) and (dues[id] and scheduled or enqueued)
      if list then list[#list + 1] = id end
      if list == scheduled then times[#times + 1] = dues[id] end
      taken[id] = nil
    end
    tell(P, 'enqueued', enqueued)
    tell(P, 'scheduled', scheduled, 'due', table.concat(times, ' '))
  end
  return result
end
