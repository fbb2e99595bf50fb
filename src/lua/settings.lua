#!lua flags=allow-oom
-- settings: changes settings of a queue, in force at once.
--
-- KEYS[1]  the queue's prefix
-- ARGV     a name and a value for each change; an empty value removes the field where that is possible. The names and
--          their values are the fields of `settings` that src/protocol/definition/settings.lua gives this script, and
--            configured  "<digest> <pid> <host>": the process that writes its configuration file to these settings
-- reply    the number of fields that changed
--
-- Example: ARGV completed_age 3600000 completed_count -1 on_dead ""
-- All values are checked before the first is written. A refused call has changed nothing.
-- Sent twice: the second call changes nothing.
-- require: base, whole

local FIELDS = @QUEUE_SETTINGS@
FIELDS.configured = {text = true}
local P = KEYS[1]

-- Whether there is a field of this name that can have this value.
local function is_value(name, value)
  local field = FIELDS[name]
  if not field then return false end
  if value == '' then return field.unset end
  if field.text then return #value <= 320 and not find(value, '%c') end
  if field.json then return #value <= 4096 and byte(value) == 123 and decoded(value) end
  if field.type then return #value <= 100 and not find(value, '[^%w._:/-]') end
  return find(value, '^-?%d+$') and whole(value, field.min, field.max)
end

do
-- require: changes
  local refused = refused_changes(P, ARGV, 1, 'setting', is_value)
  if refused then return refused end
end

-- require: foreign_key, sequence, requeue_front, event
-- Breakers are in force: tasks that run count for them from now on.
local function renew_breakers()
-- require: limit_state
  change_in_force(P)
  local set = call('HMGET', P .. 'settings', 'breaker', 'group_breaker')
  if not set[1] then call('HDEL', P .. 'breakers', 'q') end
  if not set[2] then
    local state = call('HGET', P .. 'breakers', 'q')
    call('UNLINK', P .. 'breakers')
    if state then call('HSET', P .. 'breakers', 'q', state) end
  end
  announce_due(P, 0)
end

local changed, notice, renews, told = 0, false, false, {}
for i = 1, #ARGV, 2 do
  local name, value = ARGV[i], ARGV[i + 1]
  local field, before = FIELDS[name], call('HGET', P .. 'settings', name)
  if (before or '') ~= value then
    changed = changed + 1
    if name ~= 'configured' then told[#told + 1] = name .. ' ' .. (value == '' and 'unset' or value) end
    if value == '' then
      call('HDEL', P .. 'settings', name)
      if field.beside then call('UNLINK', P .. field.beside) end
    else
      call('HSET', P .. 'settings', name, value)
    end
  end
  if name == 'payload_max' then
-- require: payload_limit
    switch_payload_limit(P, value)
  end
  notice, renews = notice or field.notice, renews or name == 'breaker' or name == 'group_breaker'
end
if renews then renew_breakers() end
if #told > 0 then tell(P, 'settings', '', 'message', table.concat(told, ', ')) end
-- Workers read some settings when they look after the queue: they do so now. Also when nothing changed: an earlier
-- call, whose reply was lost, may not have sent its notice.
if notice then announce_due(P, 0) end
return changed
