-- Segments: plain tasks that were enqueued together can share one member of `ready`; their ids are in a list, in order.
-- That takes less work and memory than a place for each.
--
--   ready             a member "+<p>": its score is that of the first of the segment's tasks; the next one's is STEP
--                     more
--   segment:<p>  list  their ids, at most 1024
--   segments     set   p of each
--
-- <p>: the number of the segment, which is the number of places that were given before it; for a bulk insert
-- (lib/bulk_insert.lua) it is random. The envelope of a task names its segment, '{"at":<ms>,"p":<p>,', as long as the
-- task exists.
--
-- enqueue.lua creates segments while the queue has neither groups nor events; turn.lua leases tasks from the first
-- segment. A script that changes a single task takes it out of its segment: the task becomes a member of `ready`. '+'
-- sorts before all characters of an id, so a segment comes before a task with the same score.
--
-- requires: base, sequence, put_aside, transitions
-- gives: leave_segment, take_out, unfold

-- Takes the first `most` tasks out of a segment: they become members of `ready`.
local function take_out(P, member, most)
  if not redis.acl_check_cmd('ZADD', P .. 'ready', '0', member) then
    error({err = 'NOPERM reeve needs the right to ZADD on the keys ' .. P .. '*'})
  end
  -- Before LPOP, because Redis may refuse this command: ids that LPOP returned would be lost.
  local score, places, n = tonumber(call('ZSCORE', P .. 'ready', member)) or @SCORE_START@, {}, 0
  local ids = call('LPOP', P .. 'segment:' .. sub(member, 2), text(most)) or {}
  for i = 1, #ids do
    places[n + 1], places[n + 2], n = text(score + (i - 1) * STEP), ids[i], n + 2
  end
  if n > 0 then
    enter_ready(P, places)
  elseif call('HEXISTS', P .. 'tasks', member) == 1 then
    put_aside(P, member) -- (it is no segment, but a malformed task whose id begins with '+')
  end
  move_segment(P, member, text(score + #ids * STEP))
end

-- Takes tasks out of segments until the `count` members of `ready` from rank `first` on are single tasks, or all that
-- there are.
local function unfold(P, first, count)
  if call('EXISTS', P .. 'segments') == 0 then return end
  local from, to, at = text(first), text(first + count - 1), nil
  repeat
    local members = call('ZRANGE', P .. 'ready', from, to)
    at = 1
    while members[at] and byte(members[at]) ~= SEGMENT do at = at + 1 end
    if members[at] then take_out(P, members[at], count - at + 1) end
  until not members[at]
end

-- If the task is in a segment, takes it out, and the tasks before it as well.
local function leave_segment(P, id, envelope)
  local p = segment_of(envelope)
  local place = p and call('LPOS', P .. 'segment:' .. p, id)
  if place then take_out(P, '+' .. p, place + 1) end
end
