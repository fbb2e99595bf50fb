#!lua flags=allow-oom
-- edit: options, payload, tags and metadata of a task change.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  the task's id
-- ARGV[2...] a name and a value for each change:
--            payload           the new bytes
--            type              a type
--            priority, group, weight, cost, limit_keys, attempts, crashes, timeout, backoff, retry_for, snoozes, heartbeat,
--            keep, on_dead     the value of this field of the header, as JSON; "": the field is removed
--            tag, untag        a tag that is added or removed
--            meta              a member of the metadata as JSON, "key":"value", that is added or changed
--            unmeta            the key of a member that is removed
--            expire            "1": a running task first loses its lease, as by expire.lua
-- reply    "ok", or the state that does not allow it, or "malformed" of a task that is not understood, "tags <how
--          many>" it would have, "large <bytes>": the queue's setting payload_max, which the new payload exceeds, or ""
--          when there is no such task
--
-- Waiting, dead and cancelled tasks can be changed. Tags and metadata of a running or completed task can be changed,
-- too: a handler that runs does not see that. A task that waits and gets another priority or group stands behind those
-- that have it. The header is changed as text: lib/header_members.lua.
--
-- Safe to send twice: the second call changes nothing, and ends no lease where there is nothing to change.
-- require: base
-- The functions make capturing the names above cheaper: see docs/scripts.md.
return (function()
-- require: foreign_key, sequence, event, history, retention, header_members
return (function()
-- require: cancel_mark, control, expire_lease, read_task, slot, tags, task_state, ties

local P, id = KEYS[1], ARGV[1]
local FIELDS = ' type priority group weight cost limit_keys attempts crashes timeout backoff retry_for snoozes heartbeat keep on_dead '
local RANK = {}
for name in string.gmatch('info cancel spoilt at p deadline type due delay priority group weight cost limit_keys attempts crashes timeout ' ..
  'backoff retry_for snoozes heartbeat at_most_once keep unique until unique_for on_dead of tags meta', '%S+') do
  RANK[#RANK + 1], RANK['"' .. name .. '"'] = name, #RANK
end

-- Returns the changes, in the order in which they were given, and whether there are others than of tags and metadata;
-- or nil.
local function changes_of(list)
  local beyond = false
  for i = 2, #list, 2 do
    local name, value = list[i], list[i + 1]
    local is_label = find(' tag untag meta unmeta ', ' ' .. name .. ' ', 1, true)
    if not value or not is_label and name ~= 'payload' and name ~= 'expire' and not find(FIELDS, ' ' .. name .. ' ', 1, true) then return nil end
    if (name == 'tag' or name == 'untag') and (value == '' or #value > @TAG_MAX@) then return nil end
    if name == 'meta' and not (find(value, '^"') and decoded('{' .. value .. '}')) then return nil end
    beyond = beyond or not is_label
  end
  return #list % 2 == 1 and #list > 1, beyond
end

local expires = false
local function with_tag(tags, tag, has)
  local list = {}
  for _, one in ipairs(tags) do
    if one ~= tag then list[#list + 1] = one end
  end
  if #list < #tags and has then return tags end
  if has then list[#list + 1] = tag end
  return list
end

-- The header's line with the changes, its tags, and the payload.
local function changed(line, payload, o)
  local list, tags = members_of(line), o.tags or {}
  local place = member_of(list, 'meta')
  local meta, has_meta = place and members_of(list[place][2]) or {}, false
  for i = 2, #ARGV, 2 do
    local name, value = ARGV[i], ARGV[i + 1]
    if name == 'payload' then
      payload = value
    elseif name == 'expire' then
      expires = value == '1'
    elseif name == 'tag' or name == 'untag' then
      tags = with_tag(tags, value, name == 'tag')
    elseif name == 'meta' then
      local pair = members_of('{' .. value .. '}')[1]
      put_member(meta, cjson.decode('[' .. pair[1] .. ']')[1], pair[2], {})
      has_meta = true
    elseif name == 'unmeta' then
      put_member(meta, value, '', {})
      has_meta = true
    else
      put_member(list, name, name == 'type' and '"' .. value .. '"' or value, RANK)
    end
  end
  if tags ~= (o.tags or tags) or not o.tags then put_member(list, 'tags', #tags > 0 and cjson.encode(tags) or '', RANK) end
  if has_meta then put_member(list, 'meta', #meta > 0 and join_members(meta) or '', RANK) end
  return join_members(list) .. '\n' .. payload, tags
end

local function reindex(o, tags, now)
  local had = {}
  for _, tag in ipairs(o.tags or {}) do had[tag] = true end
  for _, tag in ipairs(tags) do
    if not had[tag] then
      call('ZADD', P .. 'tag:' .. tag, exact(score_behind(P .. 'tag:' .. tag, o.at or now)), id)
      call('ZADD', P .. 'tags', text(now), tag)
    end
    had[tag] = nil
  end
  for tag in pairs(had) do unindex_tag(P, tag, id) end
end

local has_changes, beyond = changes_of(ARGV)
if not id or not has_changes then
  return redis.error_reply('ERR @NAME@: it takes a task, and a name and a value for each change')
end
local task, reply = read_task(P, id)
if not task then return reply end
local state, envelope, now = task.state, task.envelope, clock()
local o = header(envelope, id)
if not state or beyond and state == 'completed' then return state or '' end
if o.malformed then return 'malformed' end
local line_end = find(envelope, '\n', 1, true)
local edited, tags = changed(sub(envelope, 1, line_end - 1), sub(envelope, line_end + 1), o)
if state == 'running' and (beyond and not expires or expires and is_cancelled(envelope)) then return state end
if #tags > @TAGS_MAX@ then return 'tags ' .. text(#tags) end
local length = #edited - find(edited, '\n', 1, true)
-- A payload that does not become longer is no worse than before.
local payload_max = length > #envelope - line_end and call('HGET', P .. 'settings', 'payload_max')
if payload_max and length > (tonumber(payload_max) or LATEST) then return 'large ' .. payload_max end
if edited == envelope then return 'ok' end
local new = header(edited, id)
if new.malformed then return 'malformed' end

if state == 'running' and expires then
  expire_lease(P, id, task, now)
  envelope, state = call('HGET', P .. 'tasks', id), task_state(P, id)
  line_end = find(envelope, '\n', 1, true)
  edited = changed(sub(envelope, 1, line_end - 1), sub(envelope, line_end + 1), o)
end
call('HSET', P .. 'tasks', id, edited)
if #edited > LARGE then call('HSET', P .. 'settings', 'large', '1') end
reindex(o, tags, now)
local moves = (o.priority or 0) ~= (new.priority or 0) or o.group ~= new.group or
  o.type ~= new.type and find(in_force_of(P), 't', 1, true) or
  find(in_force_of(P), 'k', 1, true) and table.concat(o.limit_keys or {}, '\0') ~= table.concat(new.limit_keys or {}, '\0')
if moves and (state == 'ready' or state == 'parked') then
  leave_place(P, id, state, envelope)
  to_ready(P, id, new)
  if state == 'parked' then tell(P, 'ready', id) end
elseif moves and is_waiting(state) and has_info(envelope) then
  call('HDEL', P .. 'info:' .. id, 'place')
end
if o.group ~= new.group then leave_slot(P, id) end
-- Who completes a running task need not know that it has more to tell (lib/retention.lua).
if state ~= 'running' and state ~= 'completed' then note(P, id, now, 'edited') end
tell(P, 'edited', id)
return 'ok'
end)()
end)()
