-- Puts tasks back to the front of their band, in the order in which they stand in ids; needs order.lua. envelopes[i]
-- belongs to ids[i].
local function to_front(P, ids, envelopes)
  local bands = {}
  for i = 1, #ids do
    local priority = header(envelopes[i]).priority or 0
    bands[priority] = bands[priority] or {}
    table.insert(bands[priority], ids[i])
  end
  for priority, members in pairs(bands) do
    local base = priority * BAND
    -- (In an empty band time goes on from the last tag that was given there.)
    local score = (head_score(P, base) or virtual_time(order_open(P), priority)) - #members
    for i = 1, #members do
      call('ZADD', P .. 'ready', text(math.max(base, score + i - 1)), members[i])
    end
  end
  if #ids > 0 then wake(P) end
end
