-- Repairs of findings about what tasks ask for (lib/check_options.lua), numbers, settings and recurring entries
-- (lib/check_numbers.lua).
--
-- requires: base, check_numbers, check_options, deadline, index, unique
-- gives: repair_counter, repair_cron_stale, repair_deadline_missing, repair_deadline_stale, repair_large_unset
-- gives: repair_mark_missing
-- gives: repair_sequence, repair_sequence_flag, repair_tag_index, repair_tag_missing, repair_unique_missing
-- gives: repair_unique_stale
-- gives: repair_waiters_unset, repair_wake_tokens

local function header_of(P, id)
  return header(call('HGET', P .. 'tasks', id), id)
end

-- A holder that has ended loses the key.
local function repair_unique_missing(P, id)
  local o = header_of(P, id)
  if find_unique_stale(P, o.unique) then call('DEL', P .. 'unique:' .. o.unique) end
  lock(P, id, o)
end

local function repair_unique_stale(P, key)
  call('DEL', P .. 'unique:' .. key)
end

-- A tag tells when its tasks were enqueued.
local function repair_tag_missing(P, id)
  local o, missing = header_of(P, id), {}
  for _, tag in ipairs(o.tags) do
    if not call('ZSCORE', P .. 'tag:' .. tag, id) then missing[#missing + 1] = tag end
  end
  index_tags(P, id, missing, o.at)
end

local function repair_tag_index(P, tag, found)
  if found == 'is missing' then call('ZADD', P .. 'tags', text(clock()), tag) else call('ZREM', P .. 'tags', tag) end
end

local function repair_deadline_missing(P, id)
  keep_deadline(P, id, call('HGET', P .. 'tasks', id))
end

local function repair_deadline_stale(P, id)
  call('ZREM', P .. 'deadlines', id)
end

local function repair_large_unset(P)
  call('HSET', P .. 'settings', 'large', '1')
end

local function repair_mark_missing(P, id)
  mark_info(P, id, call('HGET', P .. 'tasks', id))
end

local function repair_counter(P, name)
  call('HSET', P .. 'counters', name, text(least_counter(P, name)))
end

local function repair_cron_stale(P, name)
  call('ZREM', P .. 'cron:due', name)
  call('HDEL', P .. 'cron:last', name)
  call('HDEL', P .. 'cron:runs', name)
  call('HDEL', P .. 'cron:stopped', name)
end

local function repair_wake_tokens(P)
  call('LTRIM', P .. 'wake', '0', '0')
end

local function repair_waiters_unset(P)
  call('HSET', P .. 'settings', 'waiters', '1')
end

local function repair_sequence_flag(P, flag)
  if flag == 'payload_max' then
    -- As lib/payload_limit.lua does it.
    local last = tonumber(call('HGET', P .. 'sequence', 'next'))
    if last and last > @SCORE_START@ then call('HSET', P .. 'sequence', '0', text(last)) end
    call('HDEL', P .. 'sequence', 'next')
    call('HSET', P .. 'sequence', flag, call('HGET', P .. 'settings', flag))
    call('SET', P .. 'payload_limited', '1')
  else
    call('HSET', P .. 'sequence', flag, '1')
  end
end

local function repair_sequence(P)
  for _, top in ipairs(sequence_tops(P)) do
    if top[1] == '0' then call('HDEL', P .. 'sequence', 'next') end
    call('HSET', P .. 'sequence', top[1], top[2])
  end
end
