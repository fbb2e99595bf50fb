-- A sweep over the tasks in one state, in calls: where it stands, and which tasks it means.
--
-- The cursor is "<when the sweep began> <up to which score> <score> <id>": go on behind that id, the last one of that
-- score that was left, if it still has it; else with the first that has it, and then some may be looked at twice.
--
-- requires: base, state_kinds
-- gives: sweep_of

local function has_tag(o, tag)
  for _, one in ipairs(o.tags or {}) do
    if one == tag then return true end
  end
  return false
end

-- given: the arguments from the state on: state, cursor, how many, kind, type, tag. Returns nil where there is no task.
local function sweep_of(P, given, now, age)
  local state, kind, type_wanted, tag = given[1], given[4], given[5], given[6]
  local s = {set = P .. (kind ~= '' and 'failures:' .. kind or state)}
  local ended = is_ended(state)
  s.began, s.limit, s.from, s.last = string.match(given[2], '^(%S+) (%S+) (%S+) (.*)$')
  if not s.began then
    s.began, s.from, s.last = text(now), '-inf', ''
    s.limit = ended and LATEST or call('ZRANGE', s.set, -1, -1, 'WITHSCORES')[2]
    if not s.limit then return end
    -- The last packet goes on to its last task.
    local tail = state == 'ready' and string.match(call('HGET', P .. 'order', 'packet') or '', ' (%d+)$')
    if tail then s.limit = math.max(s.limit, tonumber(tail)) end
  end
  s.began, s.limit = tonumber(s.began), tonumber(s.limit)

  -- What ended since the sweep began is passed over.
  function s.is_late(score)
    return ended and score > s.began and score <= now
  end

  function s.next_rank()
    if s.is_late(tonumber(s.from) or 0) then return call('ZCOUNT', s.set, '-inf', text(now)) end
    if s.last ~= '' and call('ZSCORE', s.set, s.last) == s.from then return call('ZRANK', s.set, s.last) + 1 end
    return call('ZCOUNT', s.set, '-inf', '(' .. s.from)
  end

  -- o: the task's header.
  function s.means(o, score)
    if type_wanted ~= '' and o.type ~= type_wanted then return false end
    if tag ~= '' and not has_tag(o, tag) then return false end
    -- One that is not understood came before all that are.
    local since = o.at or 0
    if not ended and since > s.began then return false end
    return age == 0 or (ended and score or since) <= s.began - age
  end

  function s.pass(score, id)
    if score ~= s.from then s.from, s.last = score, '' end
    if id then s.last = id end
  end

  -- What comes next has ended since the sweep began. Returns whether nothing else is left.
  function s.skip_late()
    s.from, s.last = text(now), ''
    return call('ZCOUNT', s.set, '(' .. s.from, '+inf') == 0
  end

  function s.cursor(at_end)
    if at_end then return '' end
    return text(s.began) .. ' ' .. string.format('%.17g', s.limit) .. ' ' .. s.from .. ' ' .. s.last
  end
  return s
end
