-- The settings of a queue that turn.lua reads, by place as HMGET returns them: settings[IN_FORCE]; false if not set.
--
--   KEEP_AGE     how long completed tasks are kept, in ms; "0": not at all; false: a day
--   KEEP_COUNT   how many completed tasks are kept; "0": none; false: 10000
--   KEEP_BYTES   how many bytes of results are kept
--   WAITERS      clients wait for tasks, or tasks have children: both are told when a task ends
--   PAUSED       no task may start
--   LARGE_TASKS  the queue had a large envelope once: replies are bounded by bytes, too
--   IN_FORCE     the limits, breakers and events that are on, as letters: see lib/limit_state.lua
--
-- requires: shortcuts
-- gives: IN_FORCE, KEEP_AGE, KEEP_BYTES, KEEP_COUNT, LARGE_TASKS, PAUSED, WAITERS, read_settings, settings_to_lease

local KEEP_AGE, KEEP_COUNT, KEEP_BYTES, WAITERS, PAUSED, LARGE_TASKS, IN_FORCE = 1, 2, 3, 4, 5, 6, 7

-- All of them, for a queue in which the call settles.
local function read_settings(P) -- inline
  return call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'completed_bytes', 'waiters', 'paused', 'large',
    'in_force')
end

-- Those that leasing needs, or `known` if the call has settled in this queue. Of several queues most may be empty: one
-- EXISTS finds that, and nil is returned.
local function settings_to_lease(P, known, queues) -- inline
  if known then return known end
  if queues > 1 and call('EXISTS', P .. 'ready') == 0 then return nil end
  local found = call('HMGET', P .. 'settings', 'paused', 'large', 'in_force')
  return {[PAUSED] = found[1], [LARGE_TASKS] = found[2], [IN_FORCE] = found[3]}
end
