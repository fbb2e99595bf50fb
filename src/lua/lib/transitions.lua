-- The transitions of a task. The functions below, and their plain forms for the hot path (lib/transitions_plain.lua),
-- are the only ones that add a task to the key of a state, or remove it from there. src/protocol/definition names the
-- states and their keys (states.lua), and the transitions that are allowed (transitions.lua). The test st_state_writers
-- fails if another file writes such a key.
--
-- The build inserts the body of each function at its calls, so the functions cost nothing. The caller does the rest of
-- its transition: indexes, events, history, statistics. Scores and times are texts that Redis reads as numbers; members
-- are score, id, score, id, ...
--
-- requires: base
-- gives: enter_blocked, enter_cancelled, enter_completed, enter_dead, enter_parked, enter_ready, enter_ready_at
-- gives: enter_retained, enter_running, enter_scheduled_at, enter_state, leave_ended, leave_ended_first, leave_blocked
-- gives: leave_parked, leave_ready, leave_ready_first, leave_retained, leave_running, leave_scheduled_first
-- gives: leave_state, move_segment, revoke_leases

-- ---- blocked: a task waits for its parents. Score: since when -------------------------------------------------------

local function enter_blocked(P, id, since) -- inline
  call('ZADD', P .. 'blocked', since, id)
end

local function leave_blocked(P, id) -- inline
  call('ZREM', P .. 'blocked', id)
end

-- ---- scheduled: a task waits for its time. Score: that time, with a fraction (lib/ties.lua) -------------------------

local function enter_scheduled_at(P, id, time) -- inline
  call('ZADD', P .. 'scheduled', time, id)
end

-- The first `count` tasks.
local function leave_scheduled_first(P, count) -- inline
  call('ZREMRANGEBYRANK', P .. 'scheduled', 0, count - 1)
end

-- ---- ready: a thread can lease the task. Score: its place in the order (lib/sequence.lua) ---------------------------
-- A member "+<p>" is a segment: the ids of its tasks are in the list segment:<p> (lib/segment.lua).

local function enter_ready_at(P, id, score) -- inline
  call('ZADD', P .. 'ready', score, id)
end

-- first, last: which of members; absent: all.
local function enter_ready(P, members, first, last) -- inline
  call('ZADD', P .. 'ready', unpack(members, first, last))
end

local function leave_ready(P, ids) -- inline
  call('ZREM', P .. 'ready', unpack(ids))
end

-- The first `count` members. Returns how many they were, or a table if Redis refuses that: its error.
local function leave_ready_first(P, count) -- inline
  return redis.pcall('ZREMRANGEBYRANK', P .. 'ready', 0, count - 1)
end

-- The first tasks of a segment were removed: the segment gets the place of its first task, or is removed if it is
-- empty.
local function move_segment(P, member, score) -- inline
  if call('EXISTS', P .. 'segment:' .. sub(member, 2)) == 1 then
    call('ZADD', P .. 'ready', score, member)
  else
    -- If one of these is refused, the next lease finds the segment in `ready` without tasks, and removes it.
    call('SREM', P .. 'segments', sub(member, 2))
    call('ZREM', P .. 'ready', member)
  end
end

-- ---- parked: a task waits for its group. Score: its place in `ready` ------------------------------------------------

local function enter_parked(P, group, members) -- inline
  call('ZADD', P .. 'parked', unpack(members))
  call('ZADD', P .. 'parked:' .. group, unpack(members))
end

-- A caller that knows the group removes the task from parked:<group> and parked_first:<group>.
local function leave_parked(P, ids) -- inline
  call('ZREM', P .. 'parked', unpack(ids))
end

-- ---- running: a session holds the lease. Value: the lease, "<since ms> <thread>" ------------------------------------

-- running: the key running:<session>; leases: id, lease, ...
local function enter_running(running, leases) -- inline
  call('HSET', running, unpack(leases))
end

-- running: that key, or lost:<session>. Returns how many of the tasks the session held.
local function leave_running(running, ids) -- inline
  return call('HDEL', running, unpack(ids))
end

-- The session is dead: its tasks are still in the state running, but it has no lease of them.
local function revoke_leases(running, lost) -- inline
  call('RENAME', running, lost)
end

-- ---- ended: completed, dead and cancelled. Score: when the task ended -----------------------------------------------

local function enter_completed(P, members) -- inline
  call('ZADD', P .. 'completed', unpack(members))
end

local function enter_dead(P, id, now) -- inline
  call('ZADD', P .. 'dead', now, id)
end

local function enter_cancelled(P, id, now) -- inline
  call('ZADD', P .. 'cancelled', now, id)
end

-- state: one of these. ids: texts.
local function leave_ended(P, state, ids) -- inline
  call('ZREM', P .. state, unpack(ids))
end

local function leave_ended_first(P, state, count) -- inline
  call('ZREMRANGEBYRANK', P .. state, 0, count - 1)
end

-- Completed tasks that are past their retention, and have readers (lib/readers.lua).
local function enter_retained(P, members) -- inline
  call('ZADD', P .. 'retained', unpack(members))
end

-- Returns 1 where it was there.
local function leave_retained(P, id) -- inline
  return call('ZREM', P .. 'retained', id)
end

-- ---- any state but running ------------------------------------------------------------------------------------------

-- A task takes the place of another one.
local function enter_state(P, state, id, score) -- inline
  call('ZADD', P .. state, score, id)
end

-- Returns 1 if it was there.
local function leave_state(P, state, id) -- inline
  return call('ZREM', P .. state, id)
end
