#!lua flags=allow-oom
-- limit: changes limits of a queue, or of a group in it; in force at once.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the cursor: "" at first, then what the last reply said, until that is ""
-- then     (only looked at at first) for each change: its name and value; an empty value: no such limit
--            concurrency        how many tasks of the queue run at once
--            rate               "count period burst": so many start in a period of ms, at most burst of them at once
--            group_concurrency  how many tasks of each group run at once
--            group_rate         the same as rate, for each group
--            c:<group>          the group's own concurrency instead, -1: none
--            group_strict       "1": each group is strict: it waits for the task that started last until that has
--                               ended, also while it waits for another attempt; its concurrency is 1 then
--            r:<group>          the group's own rate instead, "0": none
--            s:<group>          "1": the group is strict; "0": it is not, whatever group_strict says
--            c-:<group>         no own concurrency of the group any more (the value is not looked at); r-:<group>
--                               and s-:<group> likewise
-- reply    the cursor; "" when all is done
--
-- A group `type:<type>` stands for a type: its own limits are those of all tasks of the type. A group `key:<key>` has
-- those of all tasks with this limit key. They are not strict, and group_concurrency, group_rate and group_strict do not
-- hold for them.
--
-- Limits hold from the first call on. The others count tasks that were running before any limit of groups' concurrency,
-- and let those go on whose groups were strict; where they do not come, maintain.lua does that.
-- Sent twice: it says the same again.
-- require: base, foreign_key, sequence, requeue_front, event, group_place, limit_state, slot, counts, count_page, whole

local P, cursor = KEYS[1], ARGV[1]
local MOST = 1000000000

local function is_rate(value)
  local count, period, burst = string.match(value, '^(%d+) (%d+) (%d+)$')
  return whole(count, 1, MOST) and whole(period, 1, LATEST) and whole(burst, 1, MOST) and true
end

-- Whether a change, of this name and to this value, is one.
local function is_change(name, value)
  local letter, group = string.match(name, '^([crs]%-?):(.+)$')
  local kind, behind = virtual_kind(group or '')
  if kind and (letter == 's' or behind == '' or kind == 'type' and find(behind, '[^%w._:/-]')) then return false end
  if letter and #(behind or group) > @GROUP_MAX@ then return false end
  if name == 'concurrency' or name == 'group_concurrency' then return value == '' or whole(value, 0, MOST) end
  if name == 'rate' or name == 'group_rate' then return value == '' or is_rate(value) end
  if name == 'group_strict' then return value == '' or value == '1' end
  if letter == 'c' then return whole(value, -1, MOST) end
  if letter == 'r' then return value == '' or value == '0' or is_rate(value) end
  if letter == 's' then return value == '1' or value == '0' end
  return letter ~= nil
end

-- A cursor is looked at alone: the changes were made by the first call.
local function is_cursor(text)
  local page = string.match(text or '', '^%S+ (%d+)$')
  return page and #page <= 19
end

do
-- require: changes, expect, wake_one
  if cursor ~= '' and not is_cursor(cursor) then
    return redis.error_reply('ERR @NAME@: ARGV[1] is empty, or what the last reply said')
  end
  local refused
  if cursor == '' then refused = refused_changes(P, ARGV, 2, 'limit', is_change) else refused = unfit(P) end
  if refused then return refused end
end

local function set_group(name, value)
  local letter, group = string.match(name, '^([crs]%-?):(.+)$')
  if not letter then return end
  if #letter == 2 then
    call('HDEL', P .. 'limits', sub(letter, 1, 1) .. ':' .. group)
    local left = call('HMGET', P .. 'limits', 'c:' .. group, 'r:' .. group, 's:' .. group)
    if not (left[1] or left[2] or left[3]) then call('ZREM', P .. 'limited', group) end
  else
    call('HSET', P .. 'limits', letter .. ':' .. group, value == '0' and letter == 'r' and '' or value)
    call('ZADD', P .. 'limited', '0', group)
    local kind = virtual_kind(group)
    if kind then call('HSET', P .. 'settings', kind .. 's', '1') end
  end
end

local function change()
  local had_concurrency, loosened = call('HEXISTS', P .. 'settings', 'concurrency') == 1, false
  for i = 2, #ARGV - 1, 2 do
    local name, value = ARGV[i], ARGV[i + 1]
    loosened = loosened or (sub(name, 1, 1) == 's' or name == 'group_strict') and value ~= '1'
    if find(name, ':', 1, true) then
      set_group(name, value)
    elseif value == '' then
      call('HDEL', P .. 'settings', name)
    else
      call('HSET', P .. 'settings', name, value)
    end
  end
  local flags = change_in_force(P)
  know_in_force(P, flags)
  if tells(P) then
    local list = {}
    for i = 2, #ARGV - 1, 2 do list[#list + 1] = ARGV[i] .. ' ' .. (ARGV[i + 1] == '' and 'none' or ARGV[i + 1]) end
    tell(P, 'limits', '', 'message', table.concat(list, ', '))
  end
  if find(flags, 'c', 1, true) and not had_concurrency then
    call('HSET', P .. 'limit_state', 'running', text(count_running(P)))
  end
  -- Every group that waits is looked at anew.
  if call('EXISTS', P .. 'limit_due') == 1 then
    if call('EXISTS', P .. 'limit_dirty') == 1 then
      call('HSET', P .. 'limit_state', 'again', 1) -- (when those of the last change are through)
    else
      call('RENAME', P .. 'limit_due', P .. 'limit_dirty')
    end
  end
  call('HDEL', P .. 'limit_state', 'opens')
  announce_due(P, clock())
  if call('EXISTS', P .. 'ready') == 1 then wake_one(P) end
  if loosened and find(flags, 's', 1, true) then call('HSET', P .. 'limit_state', 'counting', '- 0') end
  return call('HGET', P .. 'limit_state', 'counting') or ''
end

if cursor == '' then return change() end
return count_page(P, clock(), 200)
