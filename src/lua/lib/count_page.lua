-- Counts tasks after limits of groups have changed: tasks that were running before are not counted yet, and waiting
-- tasks of groups that were strict may still be counted. limit.lua, which changes limits, handles these tasks in pages;
-- so does maintain.lua, because the caller of limit.lua may die before the end.
--
--   limit_state counting  the position: "<session> <cursor>" in the leases of a session, then "~ <cursor>" in
--                         `running_group`
--
-- requires: add_to, base, group_place, limit_state, slot
-- gives: count_page

-- The next session after this one, in the order of their names; nil: there is none.
local function session_after(P, last)
  local first
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    if session > last and (not first or session < first) then first = session end
  end
  return first
end

local COUNTED_SESSIONS = '~'
local STOPS = {@WAITING_SETS@}

-- Releases the slots of waiting tasks of groups that are not strict any more, a page of them. Returns the next
-- position.
local function leave_slots(P, now, page, size)
  local g = limit_state(P, now)
  local function is_strict(group)
    return group_room(g, group).strict
  end
  local found = call('HSCAN', P .. 'running_group', page, 'COUNT', text(size))
  for i = 1, #found[2], 2 do
    local id, is_loose, waits = found[2][i], false, false
    for group in groups_in(found[2][i + 1]) do is_loose = is_loose or not is_strict(group) end
    if is_loose then
      for _, set in ipairs(STOPS) do waits = waits or call('ZSCORE', P .. set, id) end
      if waits then leave_slot(P, id, is_strict) end
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
    for _, group in ipairs(envelope and groups_of(P, envelope) or {}) do
      local record = call('HGET', P .. 'running_group', id)
      if not has_slot_in(record, group) then
        call('HSET', P .. 'running_group', id, record and record .. '\0' .. group or group)
        add_to(P .. 'group_running', group, 1)
      end
    end
  end
  return session .. ' ' .. found[1]
end

-- Handles a page of about `size` tasks. Returns the new position; '' at the end.
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
