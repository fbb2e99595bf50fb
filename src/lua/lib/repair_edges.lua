-- Repairs of findings about tasks that wait for others (lib/check_edges.lua).
--
-- requires: base, check_edges, dependency_edges, dependency_notice, messages, readers
-- gives: repair_blocked_pending, repair_child_stray, repair_child_untold, repair_edge_far, repair_edge_malformed
-- gives: repair_edge_untold, repair_fanout_lost
-- gives: repair_linked_missing, repair_linked_stale

-- All edges of the task are made again, in steps, and counted (lib/restore.lua). First its parents forget the task;
-- many parents keep it until they have ended, or are findings of their own.
local function repair_blocked_pending(P, id)
  readers.unlink(P, id)
  mark_info(P, id, call('HGET', P .. 'tasks', id))
  call('HSET', P .. 'info:' .. id, 'pending', '1')
  restore_in_steps(P, id, clock())
end

local function repair_edge_far(P, subject)
  repair_blocked_pending(P, (match(subject, ' parents:(%S+)')))
end

-- The number of parents is a finding of its own.
local function repair_edge_malformed(P, subject)
  local field, id = match(subject, '^(.*) parents:(%S+)$')
  call('HDEL', P .. 'parents:' .. id, field)
end

-- A parent that has died or is gone is not waited for.
local function repair_edge_untold(P, subject)
  local parent, id = match(subject, '^(%S+) parents:(%S+)$')
  local _, parent_id = parts(parent)
  for _, state in ipairs({'dead', 'cancelled'}) do
    if call('ZSCORE', P .. state, parent_id) then return deliver(P, id, parent, state, clock()) end
  end
  if call('HEXISTS', P .. 'tasks', parent_id) == 0 then return deliver(P, id, parent, 'deleted', clock()) end
  repair_blocked_pending(P, id)
end

local function repair_linked_stale(P, id)
  call('SREM', P .. 'linked', id)
end

local function repair_child_stray(P, subject)
  local child, set, id = match(subject, '^(%S+) (%l+_?%l*):(.*)$')
  local members = P .. set .. ':' .. id
  call('ZREM', members, child)
  if find_linked_stale(P, id) then repair_linked_stale(P, id) end
end

local function repair_child_untold(P, id)
  tell_children(P, id, 'completed')
end

local function repair_linked_missing(P, id)
  call('SADD', P .. 'linked', id)
  call('HSET', P .. 'settings', 'waiters', '1')
end

-- Children that were to be told are found by themselves.
local function repair_fanout_lost(P, n)
  call('UNLINK', P .. 'fanout:' .. n)
end
