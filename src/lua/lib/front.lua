-- Puts tasks back to the front of their band, in the order in which they stand in ids; needs order.lua. envelopes[i]
-- belongs to ids[i].
local function to_front(P, ids, envelopes)
  local bands, groups = {}, {}
  if #ids > 0 then fold_order(P) end
  for i = 1, #ids do
    local o = header(envelopes[i], ids[i])
    if o.malformed then
      put_aside(P, ids[i])
    else
      local priority = o.priority or 0
      groups[ids[i]] = o.group
      bands[priority] = bands[priority] or {}
      table.insert(bands[priority], ids[i])
    end
  end
  for priority, members in pairs(bands) do
    local base = priority * BAND
    -- (In an empty band time goes on from the last tag that was given there.)
    local score = (head_score(P, base) or virtual_time(order_open(P), priority)) - #members
    for i = 1, #members do
      local at = math.max(base, score + i - 1)
      call('ZADD', P .. 'ready', text(at), members[i])
      -- (Who comes to its group, or to those without one, later stands behind it.)
      local group = groups[members[i]]
      if group then
        local lane = text(priority) .. ':' .. group
        if at > (tonumber(call('ZSCORE', P .. 'groups', lane)) or -1e300) then
          call('ZADD', P .. 'groups', text(at), lane)
          call('HSET', P .. 'order', 'groups', '1')
        end
      elseif at > (tonumber(call('HGET', P .. 'order', text(priority))) or base + START) then
        call('HSET', P .. 'order', text(priority), text(at))
      end
    end
  end
  if #ids > 0 then wake(P) end
end
