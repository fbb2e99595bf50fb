-- Settling plain completions, the careful path ("Two paths" in turn.lua, whose head says what a plain completion and a
-- refused outcome are); lib/turn_settle.lua has the common path. An outcome is accepted if HDEL removes the id from the
-- session's hash; so a call that is sent twice settles once. HDEL of several ids returns only how many it removed;
-- taken_of finds out which ones.
--
-- requires: allowed, base, breaker, result_block, event, limit_state, retention, dependency_edges, reads, readers
-- requires: results, tags, task_state, transitions, turn_settings
-- gives: complete, settle_completions, settle_rights_fault, trim_completed
-- fields: completions, rights_fault

-- `hit` of the ids were in the session's hash and have just been removed from it: returns these, and adds the others to
-- `refused`. An id that is in the list twice counts once.
local function taken_of(P, ids, hit, refused)
  if hit == #ids then return ids end
  local mine, seen = {}, {}
  for i = 1, #ids do
    local id = ids[i]
    -- A task that was just removed exists and is in no state. So does a task that an earlier call removed before it
    -- failed halfway (regain.lua); its outcome is accepted here, too. hit is 0 if the session was reaped, or all was
    -- settled before.
    if hit > 0 and not seen[id] and not task_state(P, id) and call('HEXISTS', P .. 'tasks', id) == 1 then
      mine[#mine + 1], seen[id] = id, true
    else
      refused[#refused + 1] = id
    end
  end
  return mine
end

-- Returns the results of the last `count` ids, as a table id -> result; nil if count is 0. They begin at ARGV[at]: one
-- argument for each, or one block.
local function results_of(ids, count, at, is_block)
  if count == 0 then return nil end
  if is_block then return (parse_result_block(ARGV[at])) end
  local results = {}
  for i = 1, count do results[ids[#ids - count + i]] = ARGV[at + i - 1] end
  return results
end

-- Completes the tasks. settings: lib/turn_settings.lua. results: id -> result, or nil; extra: the tasks have an
-- info:<id> or parents:<id>; held: they have a retention of their own. Returns false if records were deleted at once.
-- In a queue that keeps no records, those that children may read, or that have a retention of their own, are kept.
local function complete(P, ids, now, settings, results, extra, held)
  local age, count = keep_limits(settings[KEEP_AGE], settings[KEEP_COUNT], DAY)
  local ended = text(now)
  if extra then readers.release_all(P, ids) end
  if age == 0 or count == 0 then
    if settings[WAITERS] or held then ids = readers.keep(P, ids, ended, results) end
    if #ids == 0 then return true end
    forget_tags(P, ids)
    call('HDEL', P .. 'tasks', unpack(ids))
    return false
  end
  local members, n = {}, 0
  for i = 1, #ids do
    members[n + 1], members[n + 2], n = ended, ids[i], n + 2
  end
  if extra then call('SADD', P .. 'completed_extra', unpack(ids)) end
  local counted = results and keep_results(P, ids, results, settings[KEEP_BYTES])
  enter_completed(P, members)
  trim_count(P, 'completed', count, 2 * #ids + 16, now, true)
  if counted then
    local _, left = trim_bytes(P, number_of(settings[KEEP_BYTES], 0) or LATEST, 2 * #ids + 16, now)
    if left then announce_due(P, now) end
  end
  return true
end

-- Returns the ids that the session holds by this lease, and adds the others to `refused`.
local function of_lease(running, lease, ids, refused)
  local held = {}
  for i = 1, #ids do
    if call('HGET', running, ids[i]) == lease then held[#held + 1] = ids[i] else refused[#refused + 1] = ids[i] end
  end
  return held
end

-- Completes those of `count` ids, from `first` of ARGV on, that the session holds. lease: unless empty, only this lease
-- is meant, and not a later one of the same session. hit: how many of them were in the session's hash, if they were
-- removed from it already, else false. results, is_block, at: how many of the last of them have results, and where.
-- Returns how many were completed.
local function settle_completions(P, running, lease, first, count, hit, now, settings, refused, results, is_block, at)
  local ids = {unpack(ARGV, first, first + count - 1)}
  results, now = results_of(ids, results, at, is_block), tonumber(now)
  if not hit then
    if lease ~= '' then ids = of_lease(running, lease, ids, refused) end
    if #ids == 0 then return 0 end
    hit = leave_running(running, ids)
  end
  local mine, in_force = taken_of(P, ids, hit, refused), settings[IN_FORCE]
  if #mine == 0 then return 0 end
  local groups = in_force and breaker.groups(P, mine, in_force)
  if in_force then release(P, mine, now, in_force) end
  complete(P, mine, now, settings, results)
  know_in_force(P, in_force)
  if in_force then
    act_as(running)
    tell_as(P, 'completed', mine)
    if groups then breaker.count(P, mine, groups, now, false) end
  end
  if settings[WAITERS] then notify(P, mine, 'completed') end
  return #mine
end

-- Removes the oldest completed tasks while there are more than the queue keeps, at most `most`.
local function trim_completed(P, settings, most, now)
  trim_count(P, 'completed', number_of(settings[KEEP_COUNT], 1) or 10000, most, tonumber(now), true)
end

-- Returns why the session's user may not settle, or nil. Called if somebody is told when a task ends, or if limits,
-- breakers or events are on. A right may be taken away during a session. Without this check a call that Redis refuses
-- halfway could settle a task without telling the tasks that wait for it, or without freeing its place in its group,
-- and no later call would do that.
local function settle_rights_fault(P)
  return not_allowed(P, 'DEL EXISTS GET HDEL HEXISTS HGET HINCRBY HLEN HMGET HSCAN HSET HSETNX LLEN LPOP LPOS LPUSH RENAME RPUSH ' ..
    'SADD SCARD SMEMBERS SMISMEMBER SREM TIME UNLINK ZADD ZCARD ZCOUNT ZMSCORE ZRANGE ZRANGEBYSCORE ZREM ZREMRANGEBYRANK ' ..
    'ZREVRANGEBYSCORE ZSCORE')
end
