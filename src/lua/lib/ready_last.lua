-- A task becomes ready behind the others of its priority and group (lib/sequence.lua).
--
-- requires: base, sequence, transitions
-- gives: enter_ready_last

-- o: its options, or the fields of its header.
local function enter_ready_last(P, id, o)
  local order = order_open(P)
  enter_ready_at(P, id, text(next_score(order, o.priority, o.group, o.weight)))
  order_save(order)
end
