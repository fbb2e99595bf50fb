-- Looks at the tasks of a state as a bulk operation does, but changes none: those of a segment (lib/segment.lua) in the
-- place of the segment. Where a part of one was looked at, the cursor's id is "+<p> <score of the next task>".
--
-- requires: base, bulk_call
-- gives: look_through

-- Looks at the tasks of a segment from this score on, at most `max`. Returns whether those are all. Its first tasks may
-- have been leased since the last call: then those that stood between them were, too.
local function look_into(P, bulk, member, from, max, is_full, look)
  local score = tonumber(call('ZSCORE', bulk.set, member))
  if not score then return true end
  local first = math.max(0, math.ceil((from - score) / @SCORE_STEP@))
  local ids = call('LRANGE', P .. 'segment:' .. sub(member, 2), text(first), text(first + max - 1))
  local at = 0
  while ids[at + 1] and not is_full() do
    look(ids[at + 1], score + (first + at) * @SCORE_STEP@)
    at = at + 1
  end
  bulk.pass(text(score), member)
  if at == #ids and at < max then return true end
  bulk.last = member .. ' ' .. text(score + (first + at) * @SCORE_STEP@)
  return false
end

-- Calls look(id, score) for the next tasks, at most `max`, until is_full(). Returns whether the state is at its end.
local function look_through(P, bulk, max, is_full, look)
  local member, from = string.match(bulk.last, '^(%+%d+) (%d+)$')
  if member then
    bulk.last = member
    if not look_into(P, bulk, member, tonumber(from), max, is_full, look) then return false end
  end
  local has_segments = bulk.set == P .. 'ready'
  return visit_page(bulk, bulk.next_rank(), max, is_full, function(id, score)
    if has_segments and byte(id) == SEGMENT then
      return look_into(P, bulk, id, tonumber(score), max, is_full, look)
    end
    look(id, tonumber(score))
    bulk.pass(score, id)
  end)
end
