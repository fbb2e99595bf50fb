-- lua5.1 planted.lua: prints the names of the faults below, each with what it does.
-- lua5.1 planted.lua DIR NAME: puts the fault NAME into the scripts of the source tree DIR. Fails, and changes nothing, where
-- the text to replace does not occur exactly once.
--
-- Faults that were put into the scripts on purpose. The randomised test must find each of them (planted.sh).
--   name
--   file  below src/lua
--   from  text of that file, which occurs in it once
--   to    what replaces it. The build refuses a module of which nothing is used: so a call that a fault skips stays, in a condition
--         that is never true: no prefix is empty
--   help  what the scripts do wrong then
local faults = {
  {name = 'unlock_other', file = 'lib/unique.lua', from = " and call('GET', P .. 'unique:' .. o.unique) == id then", to = ' then',
    help = 'the end of a task frees the unique key of another task'},
  {name = 'dead_key', file = 'lib/death.lua', from = '  unlock(P, id, o)\n', to = "  if P == '' then unlock(P, id, o) end\n",
    help = 'a dead task keeps its unique key'},
  {name = 'slot', file = 'lib/settle.lua', from = '  if in_force then release(P, mine, now, in_force) end\n', to = "  if in_force and P == '' then release(P, mine, now, in_force) end\n",
    help = 'a completed task keeps its slot in its group'},
  {name = 'cost', file = 'lib/limited_lease.lua', from = 'pace.room = pace.base + more * pace.step, pace.room - more', to = 'pace.room = pace.base, pace.room - more',
    help = 'the clock of a rate goes on by one step for a task that costs more'},
  {name = 'type_slot', file = 'lib/group_place.lua', from = "if by_type and o.type then", to = "if by_type and P == '' then",
    help = 'tasks do not count for their type'},
  {name = 'key_slot', file = 'lib/group_place.lua', from = "add_once(groups, 'key:' .. key)", to = "if not groups[1] then add_once(groups, 'key:' .. key) end",
    help = 'a task counts for one of its limit keys only'},
  {name = 'cancelled_retry', file = 'lib/outcomes.lua', from = '  if envelope and is_cancelled(envelope) then return end_cancelled(P, id, envelope, now) end\n  schedule',
    to = '  schedule', help = 'a task that fails after it was cancelled is tried again'},
  {name = 'crash', file = 'lib/reap.lua', from = 'text(count_of(known[1]) + 1)', to = 'text(count_of(known[1]))',
    help = 'a crash is not counted'},
  {name = 'early', file = 'lib/promote.lua', from = 'text(now + 1)', to = 'text(now + 5000)',
    help = 'a scheduled task becomes ready 5 s early'},
  {name = 'reverse', file = 'lib/requeue_front.lua', from = 'first + task[4]', to = 'first - task[4]',
    help = 'tasks of a dead session go back in reverse order'},
  {name = 'pending', file = 'lib/dependency_edges.lua', from = "local left = call('HINCRBY', P .. 'info:' .. id, 'pending', -1)",
    to = "local left = tonumber(call('HGET', P .. 'info:' .. id, 'pending'))",
    help = 'the end of a parent is not counted'},
  {name = 'edit_cancelled', file = 'edit.lua', from = 'or expires and is_cancelled(envelope)) then return state end', to = ") or P == '' and is_cancelled(envelope) then return state end",
    help = 'an edit ends the lease of a task that was cancelled while it ran'},
  {name = 'move_cancelled', file = 'move.lua', from = "(ARGV[3] ~= '1' or is_cancelled(envelope)) then", to = "ARGV[3] ~= '1' or P == '' and is_cancelled(envelope) then",
    help = 'a task that was cancelled while it ran is moved'},
  {name = 'lease_task_paused', file = 'lease_task.lua', from = "if s[1] and not is_bound then return refuse('paused') end",
    to = "if s[1] and P == '' then return refuse('paused') end",
    help = 'a task of a paused queue is leased by its id'},
  {name = 'trim', file = 'lib/trim.lua', from = "text(now - age), 'LIMIT'", to = "text(now - age + 3600000), 'LIMIT'",
    help = 'records of ended tasks go an hour too early'},
  {name = 'trim_count', file = 'lib/settle.lua', from = "  trim_count(P, 'completed', count, 2 * #ids + 16, now, true)\n",
    to = "  trim_count(P, 'completed', count - 1, 2 * #ids + 16, now, true)\n",
    help = 'one completed task fewer is kept than the queue is set to'},
  {name = 'lost_lease', file = 'turn.lua', from = '    if hit == count then\n', to = '    if hit then\n',
    help = 'a completion is accepted from a session that has lost the lease'},
  {name = 'proof', file = 'lib/proof.lua', from = 'if oldest[2] and tonumber(oldest[2]) < since then return true end',
    to = 'if oldest[2] then return true end', help = 'any record proves that no newer one has gone'},
  {name = 'unpark', file = 'limit.lua', from = "      call('RENAME', P .. 'limit_due', P .. 'limit_dirty')\n", to = '',
    help = 'parked tasks are not looked at when their limit is raised'},
  {name = 'deadline', file = 'lib/expire.lua', from = '  elseif is_waiting(state) and deadline_of(envelope) then\n',
    to = "  elseif state == 'scheduled' and deadline_of(envelope) then\n", help = 'the deadline of a ready task is ignored'},
  {name = 'spared', file = 'lib/dead_session.lua', from = '  return now < ends and math.min(now, since) or now\n', to = '  return now\n',
    help = 'sessions that are spared count as dead'},
  {name = 'ends', file = 'maintain.lua', from = "local has_ends = call('EXISTS', P .. 'fanout', P .. 'fanout_far') > 0\n",
    to = "local has_ends = call('EXISTS', P .. 'fanout_far') > 0\n", help = '`maintain` does not say that children are to be told'},
}

local function read(path)
  local file = assert(io.open(path, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

local function plant(top, fault)
  local path = top .. '/src/lua/' .. fault.file
  local text = read(path)
  local first, last = text:find(fault.from, 1, true)
  if not first or text:find(fault.from, last + 1, true) then
    io.stderr:write(('planted: %s: src/lua/%s does not have this text exactly once: %s\n'):format(fault.name, fault.file, fault.from))
    os.exit(1)
  end
  local file = assert(io.open(path, 'wb'))
  assert(file:write(text:sub(1, first - 1), fault.to, text:sub(last + 1)))
  assert(file:close())
end

local top, name = arg[1], arg[2]
for _, fault in ipairs(faults) do
  if not top then print(('%-16s %s'):format(fault.name, fault.help)) end
  if fault.name == name then
    plant(top, fault)
    os.exit(0)
  end
end
if top then
  io.stderr:write('planted: there is no fault ', name or '', '\n')
  os.exit(1)
end
