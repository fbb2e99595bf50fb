-- The place of a waiting task in its group, where the group has a limit. lib/limit_state.lua describes the keys.
--
-- requires: base, event, transitions
-- gives: expect, forget_group, groups_of, has_limited, is_virtual, leave_groups, virtual_kind

-- Whether a group is a virtual one: it stands for the tasks of a type or with a limit key (lib/limit_state.lua).
local function is_virtual(group)
  return find(group, '^type:') or find(group, '^key:')
end

-- Returns "type" or "key", and the name behind it, of a virtual group; nil of another one.
local function virtual_kind(group)
  if is_virtual(group) then return match(group, '^(%l+):(.*)$') end
end

-- Adds a name to a list in which no name is twice. The list has the names as fields, too.
local function add_once(list, name)
  if not list[name] then list[#list + 1], list[name] = name, true end
end

-- Returns the groups that limits count a task for, in order: its group; while a type has a limit, `type:<type>`; while
-- a limit key has one, `key:<key>` for each of its limit keys; and an error text if the envelope is malformed.
local function groups_of(P, envelope)
  local flags, groups, line = in_force_of(P), {}, match(envelope, '^([^\n]*)\n') or ''
  local by_type, by_key = find(flags, 't', 1, true), find(flags, 'k', 1, true) and find(line, '"limit_keys":', 1, true)
  if not by_type and not by_key and not find(line, '"group":', 1, true) then return groups end
  local o = header(envelope)
  if o.group then add_once(groups, o.group) end
  if by_type and o.type then add_once(groups, 'type:' .. o.type) end
  for _, key in ipairs(by_key and o.limit_keys or {}) do add_once(groups, 'key:' .. key) end
  return groups, o.malformed
end

-- Whether a type has limits; kind: "type" or "key". Their names are in `limited`, where all scores are 0, between these
-- two.
local function has_limited(P, kind)
  return #call('ZRANGE', P .. 'limited', '[' .. kind .. ':', '(' .. kind .. ';', 'BYLEX', 'LIMIT', 0, 1) > 0
end

-- Lets maintain.lua handle the group again at the time `at`, in ms; LATEST: when one of its tasks ends.
local function expect(P, group, at)
  at = min(at, LATEST)
  local head = at < LATEST and call('ZRANGE', P .. 'limit_due', 0, 0, 'WITHSCORES')
  call('ZADD', P .. 'limit_due', text(at), group)
  if head and (not head[2] or at < tonumber(head[2])) then announce_due(P, at) end
end

-- Removes the keys of a group that has no parked and no unparked task any more.
local function forget_group(P, group)
  call('ZREM', P .. 'limit_due', group)
  call('ZREM', P .. 'limit_dirty', group)
  call('UNLINK', P .. 'parked_first:' .. group)
end

-- Removes a waiting task from the keys of its groups, whether it is parked or unparked. If it was unparked, the group
-- may unpark another task, so it is handled again.
local function leave_groups(P, id, envelope)
  for _, group in ipairs(groups_of(P, envelope)) do
    local parked, unparked = P .. 'parked:' .. group, P .. 'unparked:' .. group
    local was_unparked = call('ZREM', unparked, id) == 1
    if was_unparked or call('ZREM', parked, id) == 1 then
      leave_parked(P, {id})
      call('ZREM', P .. 'parked_first:' .. group, id)
      if call('EXISTS', parked, unparked) == 0 then
        forget_group(P, group)
      elseif was_unparked then
        expect(P, group, clock())
      end
    end
  end
end
