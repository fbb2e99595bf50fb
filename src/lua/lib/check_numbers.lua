-- Findings about numbers and settings that scripts write for other scripts, and about recurring entries.
-- lib/check_states.lua says what a finding is.
--
-- requires: base, sequence
-- gives: find_counter, find_cron_stale, find_sequence, find_sequence_flag, find_wake_tokens, find_waiters_unset
-- gives: least_counter
-- gives: sequence_tops

-- A counter is not smaller than the number of records.
local function least_counter(P, name)
  if name == 'completed' then return call('ZCARD', P .. 'completed') + call('ZCARD', P .. 'retained') end
  return name == 'dead' and call('ZCARD', P .. 'dead') or 0
end

-- counter: a counter is no number, or too small.
local function find_counter(P, name)
  local value, least = call('HGET', P .. 'counters', name), least_counter(P, name)
  if not value and least == 0 or value and number_of(value, least) then return end
  return (value or 'none') .. ', and there are ' .. text(least)
end

-- cron_stale: `cron:due`, `cron:stopped`, `cron:last` or `cron:runs` has an entry that does not exist.
local function find_cron_stale(P, name)
  if call('HEXISTS', P .. 'cron', name) == 1 then return end
  return (call('ZSCORE', P .. 'cron:due', name) or call('HEXISTS', P .. 'cron:last', name) == 1 or
    call('HEXISTS', P .. 'cron:runs', name) == 1 or call('HEXISTS', P .. 'cron:stopped', name) == 1) and '' or nil
end

-- wake_tokens: there are several tokens.
local function find_wake_tokens(P)
  local tokens = call('LLEN', P .. 'wake')
  return tokens > 1 and text(tokens) or nil
end

-- waiters_unset: somebody waits for ends of tasks, and settings.waiters does not say that they are to be told.
local function find_waiters_unset(P)
  if call('EXISTS', P .. 'waiters', P .. 'linked') == 0 then return end
  return call('HEXISTS', P .. 'settings', 'waiters') == 0 and '' or nil
end

-- sequence_flag: the subject is "groups", "events" or "payload_max".
local function find_sequence_flag(P, flag)
  local wanted
  if flag == 'groups' then
    wanted = call('EXISTS', P .. 'groups') == 1
  elseif flag == 'payload_max' then
    wanted = call('HGET', P .. 'settings', flag)
    local limited = call('EXISTS', P .. 'payload_limited')
    if wanted and (call('HGET', P .. 'sequence', flag) ~= wanted or limited == 0) then return '' end
  else
    wanted = find(call('HGET', P .. 'settings', 'in_force') or '', 'e', 1, true)
  end
  return wanted and call('HEXISTS', P .. 'sequence', flag) == 0 and '' or nil
end

-- The priorities in which the last score of a ready task is behind the score from which new ones count: {{priority,
-- score}, ...}. While there are groups, their tasks may be behind it.
local function sequence_tops(P)
  local tops, limit = {}, '+inf'
  if call('EXISTS', P .. 'groups') == 1 or call('HEXISTS', P .. 'sequence', 'groups') == 1 then return tops end
  while true do
    local last = call('ZREVRANGEBYSCORE', P .. 'ready', limit, '-inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
    if not last then return tops end
    local priority = math.floor(tonumber(last) / BAND)
    local known = call('HMGET', P .. 'sequence', text(priority), 'next')
    local score = tonumber(priority == 0 and count_of(known[2]) > @SCORE_START@ and known[2] or known[1])
    score = score or priority * BAND + @SCORE_START@
    if score < tonumber(last) then tops[#tops + 1] = {text(priority), text(tonumber(last))} end
    limit = '(' .. text(priority * BAND)
  end
end

-- sequence: new tasks would come before ready ones of their priority.
local function find_sequence(P)
  local first = sequence_tops(P)[1]
  return first and first[1] or nil
end
