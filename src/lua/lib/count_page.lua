-- Tasks that ran before a limit was set do not count for it yet, and tasks of groups that were strict may count
-- although they wait. limit.lua, which changes limits, goes through these tasks in pages; so does maintain.lua, as the
-- caller of limit.lua may die.
--
--   limit_state counting  how far that is: "<session> <cursor>" in the hash of a session, "~ <cursor>" in
--                         `running_group`
--
-- requires: add_to, base, group_place, limit_state, slot
-- gives: count_page

-- Of the sessions in the order of their names: the first after this one.
local function session_after(P, last)
  local first
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    if session > last and (not first or session < first) then first = session end
  end
  return first
end

local COUNTED_SESSIONS = '~'
local STOPS = {@WAITING_SETS@}

-- Some of the waiting tasks of groups that are not strict any more count no more. Returns where to go on.
local function leave_slots(P, now, page, size)
  local g = limit_state(P, now)
  local found = call('HSCAN', P .. 'running_group', page, 'COUNT', text(size))
  for i = 1, #found[2], 2 do
    local id, waits = found[2][i], false
    if not group_room(g, found[2][i + 1]).strict then
      for _, set in ipairs(STOPS) do waits = waits or call('ZSCORE', P .. set, id) end
      if waits then leave_slot(P, id) end
    end
  end
  return found[1] ~= '0' and COUNTED_SESSIONS .. ' ' .. found[1] or ''
end

local function count_leases(P, session, page, size)
  local lost = P .. 'lost:' .. session
  local leases = call('EXISTS', lost) == 1 and lost or P .. 'running:' .. session
  local found = call('HSCAN', leases, page, 'COUNT', text(size))
  for i = 1, #found[2], 2 do
    local id = found[2][i]
    local envelope = byte(id) ~= 35 and call('HGET', P .. 'tasks', id)
    local group = envelope and group_of(envelope)
    if group and call('HSETNX', P .. 'running_group', id, group) == 1 then add_to(P .. 'group_running', group, 1) end
  end
  return session .. ' ' .. found[1]
end

-- Goes through a page of about `size` tasks. Returns limit_state.counting as it is then; '' at the end.
local function count_page(P, now, size)
  local position = call('HGET', P .. 'limit_state', 'counting')
  if not position then return '' end
  local session, page = string.match(position, '^(.+) (%d+)$')
  if not session then session, page = '-', '0' end
  if session == COUNTED_SESSIONS then
    position = leave_slots(P, now, page, size)
  else
    if page == '0' then session = session_after(P, session) end
    position = session and count_leases(P, session, page, size) or COUNTED_SESSIONS .. ' 0'
  end
  if position == '' then call('HDEL', P .. 'limit_state', 'counting') else call('HSET', P .. 'limit_state', 'counting', position) end
  return position
end
