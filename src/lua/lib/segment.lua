-- Segments: plain tasks that came together stand in `ready` as one member, and in a list in their order, which is less
-- work and less memory than a place for each.
--
--   ready             a member "+<p>": its score is that of the first of the segment's tasks; the next one's is STEP more
--   segment:<p>  list  their ids, at most 1024
--   segments     set   p of each
--
-- The envelope of a task that came so tells its segment, '{"at":<ms>,"p":<p>,', for as long as it lives. enqueue.lua makes
-- segments of plain tasks, where there are neither groups nor events; turn.lua takes tasks from the first one. Whoever
-- needs them by themselves takes them out. ('+' comes before all that an id may have: of the same score a segment is first.)
-- p: how many places were given before, or, of tasks that were bulk-inserted (lib/bulk_insert.lua), a random number.
--
-- requires: base, sequence, put_aside, transitions
-- gives: leave_segment, take_out, unfold

-- The first so many tasks of a segment stand in `ready` by themselves.
local function take_out(P, member, most)
  if not redis.acl_check_cmd('ZADD', P .. 'ready', '0', member) then
    error({err = 'NOPERM reeve needs the right to ZADD on the keys ' .. P .. '*'})
  end
  -- Redis may refuse this: ids that were taken out before would be nowhere.
  local score, places, n = tonumber(call('ZSCORE', P .. 'ready', member)) or START, {}, 0
  local ids = call('LPOP', P .. 'segment:' .. sub(member, 2), text(most)) or {}
  for i = 1, #ids do
    places[n + 1], places[n + 2], n = text(score + (i - 1) * STEP), ids[i], n + 2
  end
  if n > 0 then
    enter_ready(P, places)
  elseif call('HEXISTS', P .. 'tasks', member) == 1 then
    put_aside(P, member) -- (it is no segment, but a task whose id looks like one)
  end
  move_segment(P, member, text(score + #ids * STEP))
end

-- From there on `ready` has so many tasks that stand by themselves, if there are as many.
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

-- A task that is in a segment stands in `ready` by itself, if it did not.
local function leave_segment(P, id, envelope)
  local p = segment_of(envelope)
  local place = p and call('LPOS', P .. 'segment:' .. p, id)
  if place then take_out(P, '+' .. p, place + 1) end
end
