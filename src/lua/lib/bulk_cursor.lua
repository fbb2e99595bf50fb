-- A bulk update goes over the tasks in one state, in calls: where it stands, and which tasks it means.
--
-- The cursor is "<when the bulk update began> <up to which score> <score> <id>": go on behind that id, the last one of
-- that score that was left, if it still has it; else with the first that has it, and then some may be looked at twice.
-- A search of ended tasks goes from the newest to the oldest (`reversed`): what ends after it began comes before its
-- place. Of running tasks the id is "<session> <cursor of HSCAN> <how many of that page were looked at>". An id that is
-- none (of a malformed task) may have any bytes and any length: in its place is "#<n>", the number of members of that
-- score up to it.
--
-- requires: base, filter, state_kinds
-- gives: bulk_of

local function has_tag(o, tag)
  for _, one in ipairs(o.tags or {}) do
    if one == tag then return true end
  end
  return false
end

-- Where the bulk update stands, from its cursor. Returns false where there is no task.
local function read_cursor(P, s, cursor, state, now)
  s.began, s.limit, s.from, s.last = string.match(cursor, '^(%S+) (%S+) (%S+) (.*)$')
  if not s.began then
    s.began, s.from, s.last = text(now), s.reversed and '+inf' or '-inf', ''
    s.limit = (s.ended or state == 'running') and LATEST or call('ZRANGE', s.set, -1, -1, 'WITHSCORES')[2]
    if not s.limit then return false end
    -- The last segment goes on to its last task.
    local tail = state == 'ready' and string.match(call('HGET', P .. 'sequence', 'segment') or '', ' (%d+)$')
    if tail then s.limit = math.max(s.limit, tonumber(tail)) end
  end
  s.began, s.limit = tonumber(s.began), tonumber(s.limit)
  return true
end

-- How many members come before those of the score at which it stands.
local function rank_before(s)
  if s.reversed then return call('ZCOUNT', s.set, '(' .. s.from, '+inf') end
  return call('ZCOUNT', s.set, '-inf', '(' .. s.from)
end

-- How many members come up to this one; nil: it is not there.
local function count_up_to(s, id)
  local rank = call('ZRANK', s.set, id)
  return rank and (s.reversed and call('ZCARD', s.set) - rank or rank + 1)
end

-- Gives it the functions with which a call goes over the tasks.
local function let_move(s, state, now)
  -- What ended since the bulk update began is passed over.
  function s.is_late(score)
    return s.ended and not s.reversed and score > s.began and score <= now
  end

  function s.next_rank()
    local passed = match(s.last, '^#(%d+)$')
    if not s.reversed and s.is_late(tonumber(s.from) or 0) then return call('ZCOUNT', s.set, '-inf', text(now)) end
    if s.last ~= '' and call('ZSCORE', s.set, s.last) == s.from then return count_up_to(s, s.last) end
    return rank_before(s) + (tonumber(passed) or 0)
  end

  function s.pass(score, id)
    if score ~= s.from then s.from, s.last = score, '' end
    if id then s.last = id end
  end

  -- What comes next has ended since the bulk update began. Returns whether nothing else is left.
  function s.skip_late()
    s.from, s.last = text(now), ''
    return call('ZCOUNT', s.set, '(' .. s.from, '+inf') == 0
  end

  function s.cursor(at_end)
    if at_end then return '' end
    if state ~= 'running' and s.last ~= '' and not is_id(s.last) and not find(s.last, '^[+#]%d+[ %d]*$') then
      local count = count_up_to(s, s.last)
      s.last = count and '#' .. text(count - rank_before(s)) or ''
    end
    return text(s.began) .. ' ' .. string.format('%.17g', s.limit) .. ' ' .. s.from .. ' ' .. s.last
  end
  return s
end

-- given: the arguments from the state on: state, cursor, how many, kind, type, tag. Returns nil where there is no task.
local function bulk_of(P, given, now, age, filter, search)
  local state, kind, type_wanted, tag = given[1], given[4], given[5], given[6]
  -- Only dead tasks have an index of kinds.
  local indexed = kind ~= '' and state == 'dead'
  local place = {set = P .. (indexed and 'failures:' .. kind or state), filter = filter, ended = is_ended(state)}
  place.reversed = search and place.ended
  if not read_cursor(P, place, given[2], state, now) then return end
  local s = let_move(place, state, now)

  -- session: of a running task.
  function s.means(id, envelope, score, session)
    local o = header(envelope)
    if type_wanted ~= '' and o.type ~= type_wanted then return false end
    if tag ~= '' and not has_tag(o, tag) then return false end
    if kind ~= '' and not indexed and
      (not has_info(envelope) or call('HGET', P .. 'info:' .. id, 'kind') ~= kind) then return false end
    if not selects(P, filter, id, envelope, o, state, score, session) then return false end
    -- One that is not understood came before all that are.
    local since = o.at or 0
    if not s.ended and since > s.began then return false end
    return age == 0 or (s.ended and score or since) <= s.began - age
  end
  return s
end
