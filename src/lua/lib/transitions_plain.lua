-- Transitions of a task for the hot path, and for commands that Redis may refuse. They are plain forms of the functions
-- in lib/transitions.lua, which need lib/base.lua. The functions of both modules are the only ones that add a task to
-- the key of a state, or remove it from there.
--
-- The build inserts the body of each function at its calls. Functions whose names begin with "try" return the error, a
-- table, if Redis refuses the command. The others get `call`, which is redis.call or a local name of it, and raise the
-- error. Scores, ranks and times are texts.
--
-- gives: enter_completed_all, enter_completed_one, enter_ready_segment, leave_ready_segment, leave_running_all
-- gives: leave_running_one, move_ready_segment, try_enter_ready_all, try_enter_ready_one, try_enter_running_all
-- gives: try_enter_running_one
-- gives: try_leave_ready_first, try_leave_ready_one, try_leave_running_all, try_leave_running_one, try_leave_state

-- ---- ready ----------------------------------------------------------------------------------------------------------

-- id: that of a task, or the member of a segment.
local function try_enter_ready_one(P, id, score) -- inline
  return redis.pcall('ZADD', P .. 'ready', score, id)
end

-- members: score, id, ...
local function try_enter_ready_all(P, members) -- inline
  return redis.pcall('ZADD', P .. 'ready', unpack(members))
end

local function try_leave_ready_one(P, id) -- inline
  return redis.pcall('ZREM', P .. 'ready', id)
end

-- The first members, to the one of rank `last`.
local function try_leave_ready_first(P, last) -- inline
  return redis.pcall('ZREMRANGEBYRANK', P .. 'ready', '0', last)
end

-- p: the segment's number; its member of `ready` is "+<p>".
local function enter_ready_segment(call, P, p, score) -- inline
  call('SADD', P .. 'segments', p)
  call('ZADD', P .. 'ready', score, '+' .. p)
end

-- The first tasks of a segment were leased: its place moves to that of the next task, by `by`.
local function move_ready_segment(call, P, member, by) -- inline
  call('ZINCRBY', P .. 'ready', by, member)
end

-- All tasks of a segment were leased. If one of the commands is refused, a later lease finds the segment in `ready`
-- without tasks, and removes it (lib/segment.lua).
local function leave_ready_segment(call, P, member, p) -- inline
  call('SREM', P .. 'segments', p)
  call('ZREM', P .. 'ready', member)
end

-- ---- running. running: the key running:<session> --------------------------------------------------------------------

local function try_enter_running_one(running, id, lease) -- inline
  return redis.pcall('HSET', running, id, lease)
end

-- leases: id, lease, ...
local function try_enter_running_all(running, leases) -- inline
  return redis.pcall('HSET', running, unpack(leases))
end

local function try_leave_running_one(running, id) -- inline
  return redis.pcall('HDEL', running, id)
end

local function try_leave_running_all(running, ids) -- inline
  return redis.pcall('HDEL', running, unpack(ids))
end

-- Returns 1 if the session held the lease.
local function leave_running_one(call, running, id) -- inline
  return call('HDEL', running, id)
end

-- The tasks of a list from `first` to `last`. Returns how many of the leases the session held.
local function leave_running_all(call, running, list, first, last) -- inline
  return call('HDEL', running, unpack(list, first, last))
end

-- ---- completed ------------------------------------------------------------------------------------------------------

local function enter_completed_one(call, P, id, now) -- inline
  call('ZADD', P .. 'completed', now, id)
end

-- members: now, id, ...
local function enter_completed_all(call, P, members) -- inline
  call('ZADD', P .. 'completed', unpack(members))
end

-- ---- any state but running ------------------------------------------------------------------------------------------

local function try_leave_state(P, state, id) -- inline
  return redis.pcall('ZREM', P .. state, id)
end
