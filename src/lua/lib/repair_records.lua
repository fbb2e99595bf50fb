-- Repairs of findings about what tasks leave (lib/check_records.lua).
--
-- requires: add_to, base, check_records, readers, reads
-- gives: repair_extra_missing, repair_extra_stale, repair_failure_kind, repair_failure_missing, repair_failure_stray
-- gives: repair_keep_stale, repair_read_stale, repair_reader_stray, repair_readers_unlisted, repair_reads_uncounted
-- gives: repair_result_block
-- gives: repair_result_size, repair_result_stale, repair_result_sum, repair_retained_unread

-- A block is kept where a task completed in its millisecond.
local function repair_result_stale(P, field)
  local ended = byte(field) == SEGMENT and match(field, '^%+(%d+)$')
  if ended and call('ZCOUNT', P .. 'completed', ended, ended) > 0 then return call('ZADD', P .. 'result_blocks', ended, ended) end
  call('HDEL', P .. 'results', field)
  readers.uncount(P, {field})
end

local function repair_result_block(P, ended)
  call('ZREM', P .. 'result_blocks', ended)
end

local function repair_result_size(P, id)
  local counted = count_of(call('HGET', P .. 'result_sizes', id))
  local bytes = is_kept(P, id) and call('HSTRLEN', P .. 'results', id) or 0
  if bytes > 0 then call('HSET', P .. 'result_sizes', id, text(bytes)) else call('HDEL', P .. 'result_sizes', id) end
  add_to(P .. 'result_sizes', '#', bytes - counted)
end

local function repair_result_sum(P)
  call('HSET', P .. 'result_sizes', '#', (result_sum(P)))
end

local function repair_failure_missing(P, id, kind)
  local died = call('ZSCORE', P .. 'dead', id)
  if kind == '' then
    kind = 'unknown'
    call('HSET', P .. 'info:' .. id, 'kind', kind)
  end
  call('ZADD', P .. 'failures:' .. kind, died, id)
  call('ZADD', P .. 'failures', 'GT', died, kind)
end

local function repair_failure_kind(P, kind)
  call('ZREM', P .. 'failures', kind)
end

local function repair_failure_stray(P, subject)
  local id, kind = match(subject, '^(%S+) failures:(.*)$')
  call('ZREM', P .. 'failures:' .. kind, id)
  if call('EXISTS', P .. 'failures:' .. kind) == 0 then repair_failure_kind(P, kind) end
end

local function repair_extra_missing(P, id)
  call('SADD', P .. 'completed_extra', id)
end

local function repair_extra_stale(P, id)
  call('SREM', P .. 'completed_extra', id)
end

-- One without its reader gets it again, and goes at its time.
local function repair_keep_stale(P, id)
  if not is_kept(P, id) then return call('ZREM', P .. 'keep_until', id) end
  call('ZADD', P .. 'readers:' .. id, '0', '@')
  call('SADD', P .. 'read', id)
end

local function repair_readers_unlisted(P, id)
  call('SADD', P .. 'read', id)
end

local function repair_retained_unread(P, id)
  if call('EXISTS', P .. 'readers:' .. id) == 1 then return repair_readers_unlisted(P, id) end
  readers.let_go(P, id)
end

local function repair_read_stale(P, id)
  readers.let_go(P, id)
end

local function repair_reader_stray(P, subject)
  local reader, id = match(subject, '^(%S+) readers:(.*)$')
  call('ZREM', P .. 'readers:' .. id, reader)
  readers.let_go(P, id)
end

-- More than there will be: then one look more is taken (readers.count in lib/reads.lua).
local function repair_reads_uncounted(P)
  call('HSET', P .. 'settings', 'reads', '4503599627370496')
end
