-- A parent's queue learns of a child. Needs base, where, links.
--
-- Returns nil when the child is told later, or how the parent ended. One that is not known (its record is not kept any
-- more) counts as completed. since: the time, or the number of the message that says it. states: of parents that were
-- looked at before in this call.
-- (Where one stands that has not ended does not matter; most are ready.)
local ENDED = {'completed', 'dead', 'cancelled'}
local function how_ended(P, parent_id, policy, states)
  local state = states[parent_id]
  if not state then
    state = call('HEXISTS', P .. 'tasks', parent_id) == 0 and 'completed' or 'open'
    if state == 'open' and not call('ZSCORE', P .. 'ready', parent_id) then
      for i = 1, #ENDED do
        if call('ZSCORE', P .. ENDED[i], parent_id) then state = ENDED[i] end
      end
    end
    states[parent_id] = state
  end
  if state == 'completed' then return state end
  if (state == 'dead' or state == 'cancelled') and policy ~= 'w' then return state end
end

-- is_number: since is that of a message, not a time.
local function register(P, parent_id, child, policy, since, states, is_number)
  local state = how_ended(P, parent_id, policy, states)
  if state then return state end
  local set = P .. (policy == 'w' and 'patient:' or 'children:') .. parent_id
  call('ZADD', set, 'NX', is_number and text(since) or exact(score_behind(set, since)), child)
  call('SADD', P .. 'linked', parent_id)
  call('HSET', P .. 'settings', 'waiters', '1')
end

-- A child learns of parents, {handle, policy} each. Returns how many have not ended, and what decides at once: {handle,
-- state} of the first that died, and the policy of that edge. "!" stands for what is still to be said of it.
-- known: how many it has, if that was read.
local function attach(P, id, edges, now, states, known)
  local key, queue = P .. 'parents:' .. id, own_queue(P)
  local child, pending, sent, died, decides = queue .. '/' .. id, 0, false, nil, nil
  local place = known or call('HLEN', key)
  for _, edge in ipairs(edges) do
    local parent, policy = edge[1], edge[2]
    local theirs, parent_id = parts(parent)
    local state, number
    if call('HEXISTS', key, parent) == 0 then
      if theirs == queue then
        state = register(P, parent_id, child, policy, now, states)
      elseif theirs then
        number = send(P, 'R', child .. ' ' .. parent .. ' ' .. policy)
        sent = true
      end
      call('HSET', key, parent,
        policy .. (state and HOW[state] or '-') .. text(place) .. (number and ' ' .. number or ''))
      place = place + 1
      if policy == 'x' then call('HSET', P .. 'info:' .. id, 'death', '1') end
      if not state then pending = pending + 1 end
      if state and state ~= 'completed' and policy ~= 'g' and not died then died, decides = {parent, state}, policy end
    end
  end
  if sent then announce_due(P, now) end
  return pending, died, decides
end
