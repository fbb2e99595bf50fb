-- A retried task waits again for the parents that have not completed. Needs base, links, register.
--
-- A parent that has died meanwhile is waited for, too: it may be retried as well, before or after the child. One that is
-- gone for good is not. Edges of more than RESTORED_AT_ONCE parents are made in steps (lib/kin.lua).
local RESTORED_AT_ONCE = 64

local function again(handle, value)
  local how = sub(value, 2, 2)
  return {handle, sub(value, 1, 1) .. (how == '-' and 'r' or 'd')}
end

-- Whether one of the edges that wait for a death has met it: then it does not wait for the others any more.
local function has_met_death(value)
  local how = sub(value, 2, 2)
  return sub(value, 1, 1) == 'x' and (how == 'd' or how == 'x')
end

-- How many parents the task waits for now. It stands nowhere.
local function restore(P, id, now)
  local key, edges = P .. 'parents:' .. id, {}
  local count = call('HLEN', key)
  if count == 0 then return 0 end
  if count > RESTORED_AT_ONCE then
    -- (An edge that is not made yet does not count: it is not there.)
    local number = serial(P)
    call('RENAME', key, P .. 'fanout:' .. number)
    call('RPUSH', P .. 'fanout', number .. ' restore ' .. id .. ' 0')
    call('HSET', P .. 'info:' .. id, 'restoring', number)
    announce_due(P, now)
    return 1
  end
  local known = call('HGETALL', key)
  for i = 1, #known, 2 do
    if has_met_death(known[i + 1]) then return 0 end
    if sub(known[i + 1], 2, 2) ~= 'c' then edges[#edges + 1] = again(known[i], known[i + 1]) end
  end
  if #edges == 0 then return 0 end
  local pending = attach(P, id, edges, now, {}, count, serial(P))
  if pending == 0 then call('HDEL', P .. 'info:' .. id, 'death') end
  return pending
end

-- Those of a page of edges that are not there (again).
local function missing_edges(P, id, page)
  local handles, edges = {}, {}
  for i = 1, #page, 2 do handles[#handles + 1] = page[i] end
  if #handles == 0 then return edges end
  local there = call('HMGET', P .. 'parents:' .. id, unpack(handles))
  for i = 1, #page, 2 do
    if not there[(i + 1) / 2] then edges[#edges + 1] = {page[i], page[i + 1]} end
  end
  return edges
end

-- Some of a task's edges, of those in fanout:<number>; returns where to go on, nil at the end. Of one that does not wait
-- any more they are kept as they were.
local function restore_page(P, id, number, cursor, most, now)
  local info, set = P .. 'info:' .. id, P .. 'fanout:' .. number
  local page, kept, edges = call('HSCAN', set, cursor, 'COUNT', text(most)), {}, {}
  local waits = call('HGET', info, 'restoring') == number and call('ZSCORE', P .. 'blocked', id)
  for _, edge in ipairs(missing_edges(P, id, page[2])) do
    if waits and sub(edge[2], 2, 2) ~= 'c' then
      edges[#edges + 1] = again(edge[1], edge[2])
    else
      kept[#kept + 1], kept[#kept + 2] = edge[1], edge[2]
    end
  end
  if #kept > 0 and call('HEXISTS', P .. 'tasks', id) == 1 then call('HSET', P .. 'parents:' .. id, unpack(kept)) end
  if page[1] == '0' then call('UNLINK', set) end
  if not waits then return page[1] ~= '0' and page[1] or nil end
  local pending = attach(P, id, edges, now, {}, call('HLEN', P .. 'parents:' .. id), number)
  if page[1] == '0' then pending = pending - 1 end
  local left = call('HINCRBY', info, 'pending', text(pending))
  if page[1] ~= '0' then return page[1] end
  call('HDEL', info, 'restoring')
  if left <= 0 then unblock(P, id, now) end
  return nil
end
