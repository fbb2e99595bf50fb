-- A page of the tasks in one state, as list.lua returns it.
--
-- requires: base, counts, info, list_segments, state_kinds
-- gives: task_page

local function task_page(P, state, skip, most, kind, from)
  most = math.min(most, @CALL_MAX@)
  local reply, bytes = {0}, 0
  local REPLY_BYTES = 2097152

  local function is_full()
    return #reply > most or bytes > REPLY_BYTES
  end

  local function add(id, score, session, lease)
    local envelope = call('HGET', P .. 'tasks', id)
    if not envelope then return end
    local task, more = describe(P, id, envelope, state, score, session, lease)
    reply[#reply + 1] = task
    bytes = bytes + #envelope + more
  end

  -- Those of a session's tasks that are asked for, behind the first ones.
  local function add_leases(key, session, passed)
    for _, id in ipairs(call('HKEYS', key)) do
      if is_full() then return end
      if byte(id) ~= 35 then
        passed = passed - 1
        if passed < 0 then add(id, nil, session, call('HGET', key, id)) end
      end
    end
  end

  -- Of the other sessions only the lengths of their hashes are asked for.
  if state == 'running' then
    each_session(P, function(key, session, held)
      local before = reply[1]
      reply[1] = before + held
      if reply[1] > skip and not is_full() then add_leases(key, session, skip - before) end
    end)
    return reply
  end

  local newest_first = is_ended(state)
  local set = P .. (kind ~= '' and 'failures:' .. kind or state)
  local members
  if state == 'ready' and call('EXISTS', P .. 'segments') == 1 then
    reply[1] = count_ready(P, count_running(P))
    local go_on
    members, go_on = page_with_segments(P, skip, most, from)
    if not members then return go_on end
  else
    reply[1] = call('ZCARD', set)
    members = call(newest_first and 'ZREVRANGE' or 'ZRANGE', set, text(skip), text(skip + most - 1), 'WITHSCORES')
  end
  for i = 1, #members, 2 do
    if is_full() then break end
    add(members[i], members[i + 1])
  end
  return reply
end
