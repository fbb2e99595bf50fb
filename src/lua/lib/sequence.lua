-- The order of a queue: each ready task has a score, priority * BAND + tag, which is its place in `ready`. The scores
-- of one priority are a band. The fields of the hash `sequence` have the last scores.
--
-- Tags are the virtual time of self-clocked fair queueing (S. J. Golestani, INFOCOM 1994): a task's tag is
-- max(V, last tag of its group) + STEP / weight, so that groups take turns by weight however many tasks each has
-- waiting. V, the virtual time of a band, is derived: one step before the tag at the band's head or, when the band is
-- empty, the last tag that was given in it. Tasks without a group are a group of their own; while there is no other
-- group, their tags just count up, and V is not needed.
--
--   sequence hash <priority> -> the last score of tasks without a group
--                 "groups" -> 1 while `groups` is in use
--                 "events" -> 1 while events are on (lib/event.lua)
--                 "payload_max" -> the setting of this name (lib/payload_limit.lua)
--                 "next" -> the last score of priority 0, instead of the field "0". It exists only while enqueue.lua
--                 needs nothing but the next number for a plain task: there are no groups, no events and no
--                 payload_max, and a token is in `wake`, so that no thread is idle. end_next renames it to "0". A
--                 script calls it when it finds nothing to lease, or takes the token. A value of START or less counts
--                 as absent: HINCRBY of enqueue.lua created the field
--                 "segment" -> "<p> <last score>" of the newest segment (lib/enqueue_several.lua)
--                 "epoch" -> any text; it is removed with the hash, when scores begin again (lib/flagged.lua)
--   groups zset   <priority>:<group> -> the last score of the group. maintain.lua removes groups whose scores are
--                 before the head of the queue
--
-- Scores are whole numbers below 2^53, so doubles represent them exactly. A band has room for 2^38 tasks until the
-- queue is empty again; then maintain.lua lets the scores begin again. After that many tasks, all get the last score of
-- the band, and their ids decide the order.
--
-- requires: base
-- gives: BAND, START, STEP, end_next, head_score, next_score, order_open, order_read, order_save, virtual_time
-- fields: ahead, grouped, has_events, has_groups, is_read, lanes, payload_max, plain, virtual

local BAND = @SCORE_BAND@
local START = @SCORE_START@ -- the room below is for tasks that go to the front
local STEP = @SCORE_STEP@

-- Renames `next` to `0`.
local function end_next(P)
  local last = call('HGET', P .. 'sequence', 'next')
  if not last then return end
  if count_of(last) > START then call('HSET', P .. 'sequence', '0', last) end
  call('HDEL', P .. 'sequence', 'next')
end

local function head_score(P, base)
  local head = call('ZRANGEBYSCORE', P .. 'ready', text(base), '(' .. text(base + BAND), 'WITHSCORES', 'LIMIT', 0, 1)
  return head[2] and tonumber(head[2])
end

-- Creates the table of what this call knows of the order of a queue. plain: priority -> last score without a group;
-- lanes: "<priority>:<group>" -> last score; order_save writes these two. virtual: priority -> V, if it was needed.
-- is_read: the hash `sequence` was read, so has_groups, has_events and payload_max are known. ahead: {priority, last
-- score}, which order_read has read for the first next_score.
local function order_open(P)
  return {P = P, plain = {}, lanes = false, virtual = false, grouped = false}
end

local function plain_last(o, priority)
  local last = o.plain[priority]
  if last then return last end
  local ahead = o.ahead
  o.ahead = nil
  if ahead and ahead[1] == priority then return ahead[2] end
  local known = call('HMGET', o.P .. 'sequence', text(priority), 'groups', 'events', 'next', 'payload_max')
  if known[4] then
    end_next(o.P)
    if priority == 0 and count_of(known[4]) > START then known[1] = known[4] end
  end
  o.is_read, o.has_groups, o.has_events, o.payload_max = true, known[2], known[3], known[5]
  if known[2] then o.grouped = true end
  return tonumber(known[1]) or priority * BAND + START
end

-- Reads the fields that matter for tasks in groups.
local function read_grouped(o)
  local known = call('HMGET', o.P .. 'sequence', 'groups', 'events', 'next', 'payload_max')
  if known[3] then end_next(o.P) end
  o.is_read, o.has_groups, o.has_events, o.payload_max = true, known[1], known[2], known[4]
end

-- Reads now what next_score would read first for a task of this priority and group.
local function order_read(o, priority, group)
  if group then
    read_grouped(o)
  else
    o.ahead = {priority or 0, plain_last(o, priority or 0)}
  end
end

local function virtual_time(o, priority)
  o.virtual = o.virtual or {}
  local v = o.virtual[priority]
  if v then return v end
  local base = priority * BAND
  v = head_score(o.P, base)
  if v then
    v = v - STEP
  else
    local last = call('ZREVRANGEBYSCORE', o.P .. 'groups', '(' .. text(base + BAND), text(base), 'WITHSCORES',
      'LIMIT', 0, 1)
    v = plain_last(o, priority)
    if last[2] then v = max(v, tonumber(last[2])) end
  end
  o.virtual[priority] = v
  return v
end

-- The score of the next task of a priority (nil: 0) and group (nil: none) with a weight (nil: 1).
local function next_score(o, priority, group, weight)
  priority = priority or 0
  local limit = (priority + 1) * BAND - 1
  if not group then
    local last = plain_last(o, priority)
    if o.grouped then last = max(last, virtual_time(o, priority)) end
    last = min(last + STEP, limit)
    o.plain[priority] = last
    return last
  end
  o.lanes, o.grouped = o.lanes or {}, true
  if not o.is_read then read_grouped(o) end
  local lane = text(priority) .. ':' .. group
  local last = o.lanes[lane]
  if not last then
    last = tonumber(call('ZSCORE', o.P .. 'groups', lane)) or priority * BAND
    last = max(last, virtual_time(o, priority))
  end
  last = min(last + max(1, math.floor(STEP / (weight or 1))), limit)
  o.lanes[lane] = last
  return last
end

local function order_save(o)
  local fields, n = {}, 0
  for priority, last in pairs(o.plain) do
    fields[n + 1], fields[n + 2], n = text(priority), text(last), n + 2
  end
  if o.lanes then
    local scores, m = {}, 0
    for lane, last in pairs(o.lanes) do
      scores[m + 1], scores[m + 2], m = text(last), lane, m + 2
    end
    call('ZADD', o.P .. 'groups', unpack(scores))
    if not o.has_groups then fields[n + 1], fields[n + 2], n = 'groups', '1', n + 2 end
  end
  if n > 0 then call('HSET', o.P .. 'sequence', unpack(fields)) end
end
