-- A page of the tasks in `ready`, where segments (lib/segment.lua) are among its members.
--
-- A walk: skip, stop: the first place that is asked for, and the one behind the last, counted from 0; rank: of the next
-- member; place: how many tasks are before it; found: id, score, ... of what is asked for.
--
-- requires: base
-- gives: page_with_segments

local PASSED_MAX, SINGLES_MAX = 250, 128

-- Passes the next `count` tasks. Returns the first and last of them that are asked for, counted from 0.
local function pass(walk, count)
  local first, last = math.max(walk.skip - walk.place, 0), math.min(walk.stop - walk.place, count) - 1
  walk.place = walk.place + count
  return first, last
end

-- The next `count` members, which are tasks.
local function add_singles(walk, P, count)
  local first, last = pass(walk, count)
  if first <= last then
    local members = call('ZRANGE', P .. 'ready', text(walk.rank + first), text(walk.rank + last), 'WITHSCORES')
    for i = 1, #members do walk.found[#walk.found + 1] = members[i] end
  end
  walk.rank = walk.rank + count
end

-- The next member, a segment. Groups take turns with it: members behind it may stand among its tasks.
local function add_segment(walk, P, member, score)
  local list, ready, found = P .. 'segment:' .. sub(member, 2), P .. 'ready', walk.found
  local length = call('LLEN', list)
  local end_score = text(score + @SCORE_STEP@ * math.max(length - 1, 0))
  local between = math.max(call('ZCOUNT', ready, '-inf', end_score) - walk.rank - 1, 0)
  local rank, room = walk.rank, walk.stop - walk.place
  walk.rank = rank + 1 + between
  local first, last = pass(walk, length + between)
  if first > last then return end
  local ids = call('LRANGE', list, '0', text(room - 1))
  local others = between > 0 and
    call('ZRANGE', ready, text(rank + 1), text(rank + math.min(between, room)), 'WITHSCORES') or {}
  local i, j = 1, 1
  for n = 0, last do
    local own, other = ids[i] and score + @SCORE_STEP@ * (i - 1), tonumber(others[j + 1])
    local is_own = own and (not other or own < other or own == other and ids[i] < others[j])
    if n >= first then
      found[#found + 1] = is_own and ids[i] or others[j]
      found[#found + 1] = is_own and text(own) or others[j + 1]
    end
    if is_own then i = i + 1 else j = j + 2 end
  end
end

-- Passes the tasks before the first segment of the next `look` members, and that segment. Returns how many members to
-- look at next: a segment is looked for among a few, and then among more; nil: there is none left.
local function step(walk, P, look)
  local members = call('ZRANGE', P .. 'ready', text(walk.rank), text(walk.rank + look - 1), 'WITHSCORES')
  if #members == 0 then return nil end
  local at = 1
  while members[at] and byte(members[at]) ~= SEGMENT do at = at + 2 end
  local singles = (at - 1) / 2
  -- Where there is no segment, ranks tell all places.
  if not members[at] and call('SCARD', P .. 'segments') == 0 then singles = call('ZCARD', P .. 'ready') - walk.rank end
  if singles > 0 then add_singles(walk, P, singles) end
  if not members[at] then return math.min(2 * look, SINGLES_MAX) end
  if walk.place < walk.stop then add_segment(walk, P, members[at], tonumber(members[at + 1])) end
  return 1
end

-- Returns ids and scores as ZRANGE does, but of segments their tasks; a page may be shorter than was asked for. The
-- later a page, the more segments are passed, so many in a call: where none of the page was found by then, returns nil
-- and where to go on, for `from` of the next call.
local function page_with_segments(P, skip, max, from)
  local rank, place = string.match(from, '^(%d+) (%d+)$')
  local walk = {skip = skip, stop = skip + max, rank = tonumber(rank) or 0, place = tonumber(place) or 0, found = {}}
  local look, passed = 1, 0
  while look and walk.place < walk.stop and passed <= PASSED_MAX do
    look, passed = step(walk, P, look), passed + 1
  end
  if look and walk.place < walk.stop and #walk.found == 0 then return nil, text(walk.rank) .. ' ' .. text(walk.place) end
  return walk.found
end
