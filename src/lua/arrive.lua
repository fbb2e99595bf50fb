#!lua flags=allow-oom
-- arrive: a task of another queue has been moved here (move.lua): a message V of that queue's outbox (outbox.lua),
-- carried here.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "look": nothing is written; or "<queue> <number> <floor>": the queue that it comes from, the number of the
--          message, and the lowest number that that queue had in its outbox when this was fetched, or "0" when that is
--          not known
-- ARGV[2]  its id
-- ARGV[3]  look: its unique key, or ""; else what belongs to it as JSON, see the head of lib/move_out.lua:
--            info: fields of info:<id>; parents, children; due: when it may run, in ms; holds: for how long it still
--            has its unique key, in ms, 0: until it ends
-- ARGV[4]  its envelope, without marks
-- reply    look: "", "exists", or "unique <id>": the task that has the key; else the id that the task has here
--
-- Where there is a task with this id, it gets another one: "<id>:moved:<number>". Where its unique key is held by
-- another task, it comes without it.
--
-- Sent twice: it arrives once, however late the second comes (lib/received.lua).
-- require: base
-- The functions make capturing the names above cheaper: see docs/scripts.md.
return (function()
-- require: foreign_key, sequence, schedule, event, history, retention, unique, dependency_edges, death
return (function()
-- require: deadline, dependency_death, dependency_register, edge, index, insert_plain, messages, put_aside, readers
-- require: reads, received
-- require: header_members, replacements, transitions, whole

local P, id = KEYS[1], ARGV[2] or ''
local source, number, floor = match(ARGV[1] or '', '^(%S+) (%d+) (%d+)$')
local is_look = ARGV[1] == 'look'

-- Whether a value is a list of lists of texts.
local function is_list(list, width)
  if type(list) ~= 'table' then return false end
  for i, item in pairs(list) do
    if type(i) ~= 'number' then return false end
    if width == 0 and type(item) ~= 'string' then return false end
    if width > 0 and not (is_list(item, 0) and #item == width) then return false end
  end
  return true
end

local options = decoded(ARGV[3] or '')
local is_whole_message = source and whole(number, 0, LATEST) and whole(floor, 0, LATEST) and options and is_list(options.info, 0) and
  #options.info % 2 == 0 and is_list(options.parents, 5) and is_list(options.children, 3) and
  (options.due == nil or whole(options.due, 0, INT64)) and (options.holds == nil or whole(options.holds, 0, INT64)) and ARGV[4] and
  find(ARGV[4], '^{"at":%d+,')
if not is_id(id) or not is_whole_message and not (is_look and ARGV[3]) then
  return redis.error_reply('ERR @NAME@: it takes "look" or a queue and two numbers, a task, what belongs to it, and its envelope')
end
do
-- require: expect
  local fault = unfit(P)
  if fault then return fault end
end
if is_look then
  if call('HEXISTS', P .. 'tasks', id) == 1 then return 'exists' end
  local holder = ARGV[3] ~= '' and call('GET', P .. 'unique:' .. ARGV[3])
  return holder and 'unique ' .. holder or ''
end
if was_received(P, source, number) then return id end

local now, queue, first_id = clock(), own_queue(P), id
if call('HEXISTS', P .. 'tasks', id) == 1 then id = sub(id, 1, 70) .. ':moved:' .. number end
local from, sent_to, to = source .. '/' .. first_id, queue .. '/' .. first_id, queue .. '/' .. id
local o = header(ARGV[4], id)

local function write_task()
  if #ARGV[4] > LARGE then call('HSET', P .. 'settings', 'large', '1') end
  local envelope = ARGV[4]
  if o.unique and options.holds then
    local left, key, fresh = tonumber(options.holds), P .. 'unique:' .. o.unique, nil
    if left > 0 then fresh = call('SET', key, id, 'NX', 'PX', text(left)) else fresh = call('SET', key, id, 'NX') end
    if not fresh then envelope = without_key(envelope, id) end
  end
  call('HSET', P .. 'tasks', id, '{"info":1,' .. sub(envelope, 2))
  if #options.info > 0 then call('HSET', P .. 'info:' .. id, unpack(options.info)) end
  note_ended(P, id, now, 'moved', 'from', source)
  if o.tags then
    index_tags(P, id, o.tags, o.at)
    for _, tag in ipairs(o.tags) do call('ZADD', P .. 'tags', text(now), tag) end
  end
  local deadline = deadline_of(ARGV[4])
  if deadline then add_deadlines(P, {text(deadline), id}, deadline) end
  call('DEL', P .. 'replaced_by:' .. first_id)
end

-- Those that wait for the task. One of this queue waits for it here; others hear where it is, unless they know.
local function take_children()
  local own
  for _, child in ipairs(options.children) do
    local theirs, child_id = parts(child[1])
    local is_known = theirs == source and to == sent_to
    if theirs == queue then
      local edge = call('HGET', P .. 'parents:' .. child_id, from)
      own = own or serial(P)
      if edge and sub(edge, 2, 2) == '-' and is_meant(edge, child[3]) and hand_edge(P, child_id, from, to, own) then
        register(P, id, child[1], child[2], own)
      end
    elseif theirs then
      register(P, id, child[1], child[2], child[3])
      if not is_known then
        send(P, 'M', child[1] .. ' ' .. (theirs == source and sent_to or from) .. ' ' .. child[3] .. ' ' .. to)
      end
    end
  end
end

-- Edges to parents of the queue that the task comes from, which know that it is here. Returns how many it waits for,
-- and what decides at once, as attach in lib/dependency_register.lua does.
local function take_near_parents()
  local pending, died, decides = 0, nil, nil
  for _, edge in ipairs(options.parents) do
    local handle, letter, place, edge_number, state = unpack(edge)
    if #letter == 1 then
      local ended = state ~= '' and (HOW[state] or 'c')
      call('HSET', P .. 'parents:' .. id, handle,
        letter .. (ended or '-') .. place .. (edge_number ~= '' and ' ' .. edge_number or ''))
      if letter == 'x' then call('HSET', P .. 'info:' .. id, 'death', '1') end
      if not ended then pending = pending + 1 end
      if state == 'completed' and edge_number ~= '' then readers.read(P, id, handle, edge_number) end
      if (state == 'dead' or state == 'cancelled' or state == 'unknown') and letter ~= 'g' and not died then
        died, decides = {handle, state}, state == 'unknown' and 'f' or letter
      end
    end
  end
  return pending, died, decides
end

-- A parent of this queue has the task as one of another queue.
local function leave_as_far(parent_id)
  local children, awaiting_retry = P .. 'children:' .. parent_id, P .. 'awaiting_retry:' .. parent_id
  call('ZREM', children, from)
  call('ZREM', awaiting_retry, from)
  if call('EXISTS', children, awaiting_retry) == 0 then call('SREM', P .. 'linked', parent_id) end
end

local function take_far_parents()
  local edges = {}
  for _, edge in ipairs(options.parents) do
    local handle, policy = edge[1], edge[2]
    if #policy > 1 then
      local theirs, parent_id = parts(handle)
      if theirs == queue then leave_as_far(parent_id) end
      edges[#edges + 1] = {handle, (string.gsub(policy, 'u$', ''))}
    end
  end
  return attach(P, id, edges, now, {})
end

local function place_task(pending, died, decides)
  local due = tonumber(options.due)
  if pending > 0 or died then
    call('HSET', P .. 'info:' .. id, 'pending', text(pending))
    if due then call('HSET', P .. 'info:' .. id, 'due', text(min(due, LATEST))) end
    enter_blocked(P, id, text(now))
    tell(P, 'blocked', id)
    if died and decides == 'x' then return readers.meet_death(P, id, now, died[1]) end
    if died then return dies_of(P, id, died[1], died[2], now) end
    return
  end
  call('HDEL', P .. 'info:' .. id, 'death')
  if o.malformed then return put_aside(P, id) end
  if due and due > now then
    schedule(P, id, due)
    return tell(P, 'scheduled', id, 'due', text(min(due, LATEST)))
  end
  place_ready(P, id, o)
end

note_received(P, source, number, floor)
write_task()
take_children()
local pending, died, decides = take_near_parents()
local more, far_died, far_decides = take_far_parents()
place_task(pending + more, died or far_died, died and decides or far_decides)
if call('EXISTS', P .. 'outbox') == 1 then announce_due(P, now) end
return id
end)()
end)()
