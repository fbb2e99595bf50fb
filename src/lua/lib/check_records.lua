-- Findings about what tasks leave: results, indexes of ended tasks, readers of records. lib/check_states.lua says what
-- a finding is.
--
-- requires: base, messages
-- gives: find_extra_missing, find_extra_stale, find_failure_kind, find_failure_missing, find_failure_stray
-- gives: find_keep_stale, find_read_stale, find_reader_stray, find_readers_unlisted, find_reads_uncounted
-- gives: find_result_block, find_result_size, find_result_stale, find_result_sum, find_retained_unread
-- gives: is_kept, result_sum

local SIZES_MAX = 4000

local function is_kept(P, id)
  return call('ZSCORE', P .. 'completed', id) or call('ZSCORE', P .. 'retained', id)
end

-- ---- results --------------------------------------------------------------------------------------------------------

-- result_stale: `results` has a result, or a block "+<ms>", of which nothing else knows.
local function find_result_stale(P, field)
  if call('HEXISTS', P .. 'results', field) == 0 then return end
  if byte(field) == SEGMENT then return not call('ZSCORE', P .. 'result_blocks', sub(field, 2)) and '' or nil end
  return not is_kept(P, field) and '' or nil
end

-- result_block: `result_blocks` has a block that is not in `results`.
local function find_result_block(P, ended)
  if not call('ZSCORE', P .. 'result_blocks', ended) then return end
  return call('HEXISTS', P .. 'results', '+' .. ended) == 0 and '' or nil
end

-- Whether all results are counted by their bytes.
local function are_counted(P)
  return call('HEXISTS', P .. 'settings', 'completed_bytes') == 1 and call('HGET', P .. 'result_sizes', '@') == 'end'
end

-- result_size: the bytes of a result are not those that count.
local function find_result_size(P, id)
  if find(id, '^[#@+]') or not are_counted(P) then return end
  local counted = call('HGET', P .. 'result_sizes', id) or '0'
  local bytes = call('ZSCORE', P .. 'completed', id) and call('HSTRLEN', P .. 'results', id) or 0
  return counted ~= text(bytes) and counted .. ', not ' .. text(bytes) or nil
end

-- The sum of all sizes, and what is recorded; nil where these are too many for one call.
local function result_sum(P)
  if call('HLEN', P .. 'result_sizes') > SIZES_MAX then return end
  local sum, list = 0, call('HGETALL', P .. 'result_sizes')
  for i = 1, #list, 2 do
    if list[i] ~= '#' and list[i] ~= '@' then sum = sum + count_of(list[i + 1]) end
  end
  return text(sum), call('HGET', P .. 'result_sizes', '#') or '0'
end

-- result_sum: the sum of the sizes of results is wrong.
local function find_result_sum(P)
  local sum, known = result_sum(P)
  return sum ~= known and known .. ', not ' .. sum or nil
end

-- ---- indexes of ended tasks -----------------------------------------------------------------------------------------

-- failure_missing: a dead task is not in the index of its kind of error.
local function find_failure_missing(P, id)
  local died, kind = call('ZSCORE', P .. 'dead', id), call('HGET', P .. 'info:' .. id, 'kind')
  if not died or call('HEXISTS', P .. 'tasks', id) == 0 or kind and call('ZSCORE', P .. 'failures:' .. kind, id) == died and call('ZSCORE', P .. 'failures', kind) then return end
  return kind or ''
end

-- failure_stray: "<id> failures:<kind>", and the task is not dead of that.
local function find_failure_stray(P, subject)
  local id, kind = match(subject, '^(%S+) failures:(.*)$')
  if not id or not call('ZSCORE', P .. 'failures:' .. kind, id) then return end
  local is_dead = call('ZSCORE', P .. 'dead', id) and call('HGET', P .. 'info:' .. id, 'kind') == kind
  return not is_dead and '' or nil
end

-- failure_kind: `failures` has a kind of which no task has died.
local function find_failure_kind(P, kind)
  if not call('ZSCORE', P .. 'failures', kind) then return end
  return call('EXISTS', P .. 'failures:' .. kind) == 0 and '' or nil
end

-- extra_missing: a completed task has info:<id> or parents:<id>, and `completed_extra` lacks it.
local function find_extra_missing(P, id)
  if not call('ZSCORE', P .. 'completed', id) or call('EXISTS', P .. 'info:' .. id, P .. 'parents:' .. id) == 0 then return end
  return call('SISMEMBER', P .. 'completed_extra', id) == 0 and '' or nil
end

-- extra_stale: `completed_extra` has a task that is not completed.
local function find_extra_stale(P, id)
  if call('SISMEMBER', P .. 'completed_extra', id) == 0 then return end
  return not is_kept(P, id) and '' or nil
end

-- ---- readers --------------------------------------------------------------------------------------------------------

-- retained_unread: a record is kept for readers, and there are none.
local function find_retained_unread(P, id)
  if not call('ZSCORE', P .. 'retained', id) or call('HEXISTS', P .. 'tasks', id) == 0 then return end
  return call('SISMEMBER', P .. 'read', id) == 0 and '' or nil
end

-- read_stale: `read` has a task without readers:<id>.
local function find_read_stale(P, id)
  if call('SISMEMBER', P .. 'read', id) == 0 then return end
  return call('EXISTS', P .. 'readers:' .. id) == 0 and '' or nil
end

-- readers_unlisted: `read` lacks a task with readers:<id>.
local function find_readers_unlisted(P, id)
  if call('EXISTS', P .. 'readers:' .. id) == 0 then return end
  return call('SISMEMBER', P .. 'read', id) == 0 and '' or nil
end

-- keep_stale: `keep_until` has a task whose record is not kept for its own time.
local function find_keep_stale(P, id)
  if not call('ZSCORE', P .. 'keep_until', id) then return end
  return not (is_kept(P, id) and call('ZSCORE', P .. 'readers:' .. id, '@')) and '' or nil
end

-- reader_stray: "<handle> readers:<id>", and the reader, in this queue, does not read it; or "#<n> readers:<id>"
-- without a fan-out.
local function find_reader_stray(P, subject)
  local reader, id = match(subject, '^(%S+) readers:(.*)$')
  if not reader or not call('ZSCORE', P .. 'readers:' .. id, reader) then return end
  if reader == '@' then return not call('ZSCORE', P .. 'keep_until', id) and '' or nil end
  if byte(reader) == 35 then return call('EXISTS', P .. 'fanout:' .. sub(reader, 2)) == 0 and '' or nil end
  local queue, reader_id = parts(reader)
  if queue ~= own_queue(P) then return end
  return not call('ZSCORE', P .. 'reads:' .. reader_id, queue .. '/' .. id) and '' or nil
end

-- reads_uncounted: a task reads records, and settings.reads says that none does.
local function find_reads_uncounted(P, id)
  if call('EXISTS', P .. 'reads:' .. id) == 0 then return end
  local reads = call('HGET', P .. 'settings', 'reads')
  return (tonumber(reads) or 0) < call('ZCARD', P .. 'reads:' .. id) and (reads or 'none') or nil
end
