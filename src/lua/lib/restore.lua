-- A retried task waits again for the parents that have not completed.
--
-- A parent that has died meanwhile is waited for, too: it may be retried as well, before or after the child. One that
-- is gone for good is not.
--
-- Edges of more than RESTORED_AT_ONCE parents are made in steps (lib/fan_out.lua). The edges stay where they are:
-- `restoring` is a number, and edges with lower numbers, or without one, are still to be made. The end of such a parent
-- is recorded and does not count. A new restoration has a higher number, and so begins anew wherever the last one was
-- left.
--
-- requires: base, retention, dependency_edges, edge, messages, readers, dependency_register
-- gives: restore, restore_page

local RESTORED_AT_ONCE = @EDGES_AT_ONCE@

local function again(handle, value)
  local how = sub(value, 2, 2)
  return {handle, sub(value, 1, 1) .. (how == '-' and 'r' or 'd')}
end

-- Whether one of the edges that wait for a death has met it: then it does not wait for the others any more.
local function has_met_death(value)
  local how = sub(value, 2, 2)
  return sub(value, 1, 1) == 'x' and (how == 'd' or how == 'x')
end

-- Returns how many parents the task waits for now. The caller has taken the task out of its state.
local function restore(P, id, now)
  local key, edges = P .. 'parents:' .. id, {}
  local count = call('HLEN', key)
  if count == 0 then return 0 end
  if count > RESTORED_AT_ONCE then
    restore_in_steps(P, id, now)
    return 1
  end
  local known = call('HGETALL', key)
  for i = 1, #known, 2 do
    if has_met_death(known[i + 1]) then return 0 end
    if sub(known[i + 1], 2, 2) ~= 'c' then edges[#edges + 1] = again(known[i], known[i + 1]) end
  end
  if #edges == 0 then return 0 end
  local pending, died = attach(P, id, edges, now, {}, count, serial(P))
  -- That can only be a death for which it waited.
  if died then
    pending = 0
    readers.unlink(P, id)
  end
  if pending == 0 then call('HDEL', P .. 'info:' .. id, 'death') end
  return pending
end

-- Those of a page of a task's edges that are still to be made again; nil: one of them has met its death. near: those to
-- other queues are passed over; then it returns whether there were any, too.
local function unmade_edges(page, number, near)
  local edges, passed = {}, false
  for i = 1, #page, 2 do
    if not is_made(page[i + 1], number) then
      if has_met_death(page[i + 1]) then return nil end
      if near and (parts(page[i]) or near) ~= near then
        passed = true
      elseif sub(page[i + 1], 2, 2) ~= 'c' then
        edges[#edges + 1] = again(page[i], page[i + 1])
      end
    end
  end
  return edges, passed
end

-- Some of a task's edges; returns where to go on, nil at the end. Meanwhile edges may come, go and end; or the task
-- waits no more, or for another restoration. near: the own queue, and edges to others are passed over; then it returns
-- whether there were any, too. passed: there were some before: this walk is not the last.
local function restore_page(P, id, number, cursor, most, now, near, passed)
  local info, key = P .. 'info:' .. id, P .. 'parents:' .. id
  if not call('ZSCORE', P .. 'blocked', id) or restoring_of(P, id) ~= number then return nil end
  local page = call('HSCAN', key, cursor, 'COUNT', text(most))
  local edges, passes = unmade_edges(page[2], number, near)
  local pending, died = 0, true
  if edges then pending, died = attach(P, id, edges, now, {}, call('HLEN', key), number) end
  if died then
    readers.meet_death(P, id, now)
    return nil
  end
  local ends = page[1] == '0' and not passes and not passed
  local left = call('HINCRBY', info, 'pending', text(ends and pending - 1 or pending))
  if not ends then return page[1] ~= '0' and page[1] or nil, passes end
  call('HDEL', info, 'restoring')
  if left <= 0 then unblock(P, id, now) end
  return nil
end
