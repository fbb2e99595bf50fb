-- Counts tasks after limits of groups have changed: tasks that were running before are not counted yet, and waiting
-- tasks of groups that were strict may still be counted. limit.lua, which changes limits, handles these tasks in pages;
-- so does maintain.lua, because the caller of limit.lua may die before the end.
--
--   limit_state counting  the position: "<session> <cursor>" in the leases of a session, then "~ <cursor>" in
--                         `running_group`
--
-- requires: add_to, base, group_place, limit_state, slot
-- gives: count_page, is_in

-- The next session after this one, in the order of their names; nil: there is none.
local function session_after(P, last)
  local first
  for _, session in ipairs(call('ZRANGE', P .. 'sessions', 0, -1)) do
    if session > last and (not first or session < first) then first = session end
  end
  return first
end

-- Whether a task is in one of these sets.
local function is_in(P, sets, id)
  for _, set in ipairs(sets) do
    if call('ZSCORE', P .. set, id) then return true end
  end
end

local COUNTED_SESSIONS = '~'
-- Releases the slots of waiting tasks of groups that are not strict any more, a page of them. Returns the next
-- position.
local function leave_slots(P, now, page, size)
  local g = limit_state(P, now)
  local function is_strict(group)
    return group_room(g, group).strict
  end
  local found = call('HSCAN', P .. 'running_group', page, 'COUNT', text(size))
  for i = 1, #found[2], 2 do
    local id, is_loose = found[2][i], false
    for group in groups_in(found[2][i + 1]) do is_loose = is_loose or not is_strict(group) end
    if is_loose and is_in(P, {@WAITING_SETS@}, id) then leave_slot(P, id, is_strict) end
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
    local groups = envelope and groups_of(P, envelope) or {}
    local record = groups[1] and call('HGET', P .. 'running_group', id)
    for _, group in ipairs(groups) do
      if not has_slot_in(record, group) then
        record = record and record .. '\0' .. group or group
        call('HSET', P .. 'running_group', id, record)
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
