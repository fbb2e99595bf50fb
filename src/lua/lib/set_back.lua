-- A step of maintain.lua after Redis's clock was set back: moves times by the same amount. Otherwise scheduled work
-- would be late by that amount. Moved are times that were computed as "so long after something": the ends of sessions
-- and pauses, and delays of tasks. Times that a person or program named, of tasks and recurring entries, stay. Entries
-- that come at an interval become due at once, and groups are examined again for their limits. Each call does a part of
-- this, as the budget allows (lib/budget.lua).
--
--   settings back  "<by> <last> <set> <from> <skip>", while some of it is left to do. by: how far the clock was set
--                  back, in ms; last: what it had shown before; set: the number of the sorted set that comes next;
--                  from: the score from which on; skip: how many members with that score were handled already
--
-- A time after `last` was written before the clock was set back; or it was written since, for a time after `last`. The
-- second kind cannot be told apart and is moved, too, so it comes too early by that amount.
--
-- requires: base, budget, ties
-- gives: set_back
-- fields: clock_before, longest, set_back, skip

local SETS = {'sessions', 'paused_groups', 'scheduled', 'cron:due'}

-- Returns the new expiry of a session. If it is after `last`, the session was renewed before the clock was set back,
-- and its expiry has to move; or it was renewed since, and its expiry is right. The later one of the two times is used,
-- the second one at most a life from now. A session that had expired before the clock was set back, and was not reaped,
-- expires at most A_WHILE or a life from now.
local A_WHILE = 120000
local function session_end(expiry, now, work)
  if expiry > work.last then return math.max(expiry - work.by, math.min(expiry, now + work.longest)) end
  return math.min(expiry, now + math.max(work.longest, A_WHILE))
end

-- Whether a scheduled task waits for a time that was named, and not for the end of a delay. Its header shows that
-- ("due"); or, if it was rescheduled to that time, its history. If the header has neither "due" nor "delay", the task
-- took the place of another one, or its producer does not write these fields; the time counts as named. A task that
-- failed at the time of its header or later waits for a retry: that is a delay.
local function is_named(envelope, due, failed, history)
  local line = sub(envelope, 1, (find(envelope, '\n', 1, true) or 1) - 1)
  local named = tonumber(string.match(line, '"type":"[^"]*","due":(%d+)'))
  if named and named > 0 then
    return due >= named and due - named < 1000 and (tonumber(failed) or 0) < named
  end
  if named then
    for said in string.gmatch(history or '', '"what":"rescheduled"([^\n]*)') do
      if tonumber(string.match(said, '"due":(%d+)')) == due and not find(said, '"delay":', 1, true) then return true end
    end
    return false
  end
  return not named and not has_info(envelope) and not find(line, '"type":"[^"]*","delay":')
end

-- When the task was scheduled, as far as that is known: when it was enqueued, or failed last.
local function put_at(envelope, failed)
  return math.max(tonumber(string.match(envelope, '^[^\n]-"at":(%d+)')) or 0, tonumber(failed) or 0)
end

local function scheduled_time(P, now, id, score, envelope, work)
  local known = envelope and has_info(envelope) and call('HMGET', P .. 'info:' .. id, 'failed', 'history') or {}
  if not envelope or is_named(envelope, math.floor(score), known[1], known[2]) then return score end
  local moves = score > work.last or put_at(envelope, known[1]) > math.max(now, work.seen)
  return moves and math.floor(score) - work.by or score
end

-- Returns the new time of a recurring entry. An entry that comes at an interval becomes due at once. That is none of
-- its slots, so the worker only computes the next slot. fire.lua enqueues tasks for slots that come a second time.
local function entry_time(P, now, name, score)
  local definition = call('HGET', P .. 'cron', name)
  return definition and find(definition, '^{"spec":"every ') and now + 1 or score
end

-- Returns the names and the new scores of a page, which is name, score, ...
local function new_scores(P, now, page, work)
  local set, scores, names = SETS[work.set], {}, {}
  for i = 1, #page, 2 do names[#names + 1] = page[i] end
  local envelopes = set == 'scheduled' and call('HMGET', P .. 'tasks', unpack(names))
  for i = 1, #names do
    local score = tonumber(page[2 * i])
    if set == 'sessions' then
      scores[i] = session_end(score, now, work)
    elseif set == 'paused_groups' then
      scores[i] = score > work.last and score < LATEST and score - work.by or score
    elseif set == 'scheduled' then
      scores[i] = scheduled_time(P, now, names[i], score, envelopes[i], work)
    else
      scores[i] = entry_time(P, now, names[i], score)
    end
  end
  return names, scores
end

-- Handles a page of a set. Returns whether it was the last one.
local function move_page(P, now, work, most)
  local key, moved, stay = P .. SETS[work.set], {}, 0
  local page = call('ZRANGEBYSCORE', key, work.from, '+inf', 'WITHSCORES', 'LIMIT', work.skip, most)
  if #page == 0 then return true end
  local names, scores = new_scores(P, now, page, work)
  local last, scheduled = page[#page], SETS[work.set] == 'scheduled'
  for i = 1, #names do
    if scores[i] ~= tonumber(page[2 * i]) then
      moved[#moved + 1], moved[#moved + 2] = scheduled and scores[i] or text(scores[i]), names[i]
    elseif page[2 * i] == last then
      stay = stay + 1
    end
  end
  if #moved > 0 and scheduled then
    add_behind(key, moved)
  elseif #moved > 0 then
    call('ZADD', key, unpack(moved))
  end
  budget.left = budget.left - #names
  -- Members that were moved stand before all members that are left.
  work.skip = last == work.from and work.skip + stay or stay
  work.from = last
  return #names < most
end

-- Continues where the last call ended. Returns whether some work is left.
local function set_back_some(P, now, is_large, work)
  while work.set <= #SETS do
    local most = is_large and 8 or 100
    if move_page(P, now, work, most) then work.set, work.from, work.skip = work.set + 1, text(now + 1), 0 end
    if budget.left < 400 and work.set <= #SETS then
      call('HSET', P .. 'settings', 'back', text(work.by) .. ' ' .. text(work.last) .. ' ' .. text(work.set) .. ' ' ..
        work.from .. ' ' .. text(work.skip))
      return true
    end
  end
  call('HDEL', P .. 'settings', 'back')
  return false
end

-- Moves the times that are settings, and lets all groups be examined again.
local function set_back_first(P, now, by)
  for _, name in ipairs({'paused_until', 'events_until'}) do
    local at = number_of(call('HGET', P .. 'settings', name), 0)
    if at and at > now + by and at < LATEST then call('HSET', P .. 'settings', name, text(at - by)) end
  end
  call('HDEL', P .. 'limit_state', 'opens')
  if call('EXISTS', P .. 'limit_due') == 1 then
    if call('EXISTS', P .. 'limit_dirty') == 1 then
      call('HSET', P .. 'limit_state', 'again', 1)
    else
      call('RENAME', P .. 'limit_due', P .. 'limit_dirty')
    end
  end
end

-- jump: {by, clock_before, longest, left, large}. by: how far the clock was set back, in ms; nil: continues earlier
-- work. left: settings.back, or false. clock_before: when the queue was last maintained; later than now if the clock
-- was set back again. longest: the longest life of a session, in ms. large: envelopes may be large. Returns whether
-- some work is left.
local function set_back(P, now, jump)
  local by, work = jump.by, {longest = jump.longest}
  if by then
    set_back_first(P, now, by)
    work.by, work.last, work.set, work.from, work.skip, work.seen = by, now + by, 1, text(now + 1), 0, now
  else
    local left, last, set, from, skip = string.match(jump.left, '^(%d+) (%d+) (%d) ([%d.e+-]+) (%d+)$')
    if not left then
      call('HDEL', P .. 'settings', 'back')
      return false
    end
    work.by, work.last, work.set, work.from = tonumber(left), tonumber(last), tonumber(set), from
    work.skip, work.seen = tonumber(skip), jump.clock_before or now
  end
  return set_back_some(P, now, jump.large, work)
end
