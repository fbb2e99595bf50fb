-- Replacements: a new task replaces the holder of its unique key (enqueue_replace.lua). It takes over the children of
-- the holder; if it names no parents itself, also the parents of the holder.
--
-- requires: base, dependency_edges, edge, far_edge, messages, readers, reads
-- gives: hand_edge, hand_over, heritage, inherit, note_replacement

local REPLACEMENTS_MOST = @REPLACED_CHILDREN_MAX@ -- (so many edges take Redis some 3 ms)
local REPLACEMENT_KNOWN, REPLACEMENT_KNOWN_BRIEFLY = '@REPLACEMENT_MS@', '@REPLACEMENT_BRIEF_MS@' -- ms
local HERITAGE_MOST = @REPLACED_PARENTS_MAX@ -- edges to parents; of more a retried task may still have some to make (lib/restore.lua)

-- Moves one edge of a child from `parent` to `replacement`, both handles. number: of the message that registers the
-- child with the replacement, or nil. Returns whether the moved edge is used; false: the child has an edge to the
-- replacement already, or none to the parent.
local function hand_edge(P, child, parent, replacement, number)
  local key = P .. 'parents:' .. child
  local edges = call('HMGET', key, parent, replacement)
  if not edges[1] then return false end
  call('HDEL', key, parent)
  if not (edges[2] and sub(edges[2], 2, 2) == '-') then
    call('HSET', key, replacement, number and string.match(edges[1], '^%S+') .. ' ' .. number or edges[1])
    return true
  end
  if call('ZSCORE', P .. 'blocked', child) and is_made(edges[1], restoring_of(P, child)) then
    call('HINCRBY', P .. 'info:' .. child, 'pending', -1)
  end
  return false
end

-- Records that `id` was replaced, in replaced_by:<id>. Messages from other queues that register children with `id` may
-- still arrive, and link.lua follows the record. The record of the replacement itself is deleted, so that no chain of
-- records is a circle.
local function note_replacement(P, id, replacement, ms)
  call('SET', P .. 'replaced_by:' .. id, replacement, 'PX', ms)
  call('DEL', P .. 'replaced_by:' .. replacement)
end

-- Moves the children of the task `id` to its replacement. Returns false, and does nothing, if there are too many.
local function hand_over(P, id, replacement)
  local count = children_of(P, id)
  if count == 0 then
    note_replacement(P, id, replacement, REPLACEMENT_KNOWN_BRIEFLY)
    return true
  end
  if count > REPLACEMENTS_MOST then return false end
  local queue, sent, moved = own_queue(P), false, false
  local from, to = queue .. '/' .. id, queue .. '/' .. replacement
  for _, set in ipairs({P .. 'children:', P .. 'awaiting_retry:'}) do
    local list, near, far = call('ZRANGE', set .. id, 0, -1, 'WITHSCORES'), {}, {}
    for i = 1, #list, 2 do
      local theirs, child = parts(list[i])
      if theirs ~= queue then
        send(P, 'M', list[i] .. ' ' .. from .. ' ' .. text(tonumber(list[i + 1])) .. ' ' .. replacement)
        far[#far + 1], far[#far + 2], sent = list[i + 1], list[i], true
      elseif hand_edge(P, child, from, to) then
        near[#near + 1], near[#near + 2] = list[i + 1], list[i]
      end
    end
    moved = moved or #near + #far > 0
    if #near > 0 then call('ZADD', set .. replacement, unpack(near)) end
    if #far > 0 then call('ZADD', set .. replacement, 'NX', unpack(far)) end
    call('DEL', set .. id)
  end
  call('SREM', P .. 'linked', id)
  if moved then call('SADD', P .. 'linked', replacement) end
  note_replacement(P, id, replacement, sent and REPLACEMENT_KNOWN or REPLACEMENT_KNOWN_BRIEFLY)
  if sent then announce_due(P, clock()) end
  return true
end

-- Returns the edges of a blocked task in the form of the option `after`, for its replacement: the edges that have not
-- ended, also to parents that are expected, and the edges to completed parents, whose records the replacement may read.
-- It waits for the same signals, too. The placeholder "!" is left out, because the program that removes it does not know
-- the replacement; so is "!worker.<id>", by which a task is for one worker. Edges with the policy "x" are left out, because a task that waits for a death
-- and meets none is removed. The replacement becomes a reader of the records in this queue at once, so that they are
-- not removed with the replaced task; it does not become one if a record was deleted by hand. Returns nil, and does
-- nothing, if there are too many edges or hand_over would refuse.
local function heritage(P, id, replacement)
  local key, queue, edges = P .. 'parents:' .. id, own_queue(P), {}
  if call('HLEN', key) > HERITAGE_MOST or children_of(P, id) > REPLACEMENTS_MOST then return nil end
  local known = call('HGETALL', key)
  local from, to = queue .. '/' .. id, queue .. '/' .. replacement
  for i = 1, #known, 2 do
    local parent, letter, how, place = known[i], string.match(known[i + 1], '^(%a)(.)(%d+)')
    local theirs, parent_id = parts(parent)
    if theirs and parent ~= to and letter ~= 'x' and (how == '-' or how == 'c') then
      local mode = how == 'c' and 'g' or theirs == queue and 'e' or if_unknown(P, known[i + 1])
      edges[#edges + 1] = {parent, letter .. (mode == 'u' and '' or mode == 'e' and mode or 'g'), tonumber(place)}
      if how == 'c' and theirs == queue and call('ZSCORE', P .. 'readers:' .. parent_id, from) then
        readers.read(P, replacement, parent)
        readers.add(P, parent_id, {'0', to})
      end
    elseif find(parent, '^!.') and not find(parent, '^!worker%.') then
      edges[#edges + 1] = {parent, letter, tonumber(place)}
    end
  end
  table.sort(edges, function(one, other) return one[3] < other[3] end)
  return edges
end

-- Called for a message M: the queue of `parent` has registered the child with `replacement`, an id there or a handle.
-- number: of the message R that had registered it with `parent`. The child is registered again, because the replacement
-- may have ended before; if the child does not wait any more, it is unregistered.
local function inherit(P, id, parent, number, replacement)
  local queue = parts(parent)
  local to, child = find(replacement, '/', 1, true) and replacement or queue .. '/' .. replacement, own_queue(P) .. '/' .. id
  local edges = call('HMGET', P .. 'parents:' .. id, parent, to)
  local waits = edges[2] and sub(edges[2], 2, 2) == '-'
  if edges[1] and sub(edges[1], 2, 2) == '-' then
    local blocked = call('ZSCORE', P .. 'blocked', id)
    -- It waits by a later message, which finds out who took the place (link.lua): until then it stays registered there.
    if blocked and not is_meant(edges[1], number) then return end
    if blocked then
      if waits then
        hand_edge(P, id, parent, to)
        return
      end
      hand_edge(P, id, parent, to, send(P, 'R', child .. ' ' .. to .. ' ' .. sub(edges[1], 1, 1)))
      return announce_due(P, clock())
    end
    if is_meant(edges[1], number) then
      hand_edge(P, id, parent, to)
      waits = false
    end
  end
  if waits then return end
  send(P, 'U', child .. ' ' .. to)
  announce_due(P, clock())
end
