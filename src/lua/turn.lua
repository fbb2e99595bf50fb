#!lua flags=allow-oom
-- turn: a thread's whole turn in one call: settles what it finished, then leases what it takes next.
--
-- KEYS     the prefixes of the queues to lease from, in order, then those that are only settled
-- ARGV[1]  the thread's name within its session
-- ARGV[2]  how many tasks to lease at most, and at most @CALL_MAX@; 0: only settle
-- ARGV[3]  how long a session lives without a heartbeat, in ms
-- ARGV[4]  L: how many of KEYS to lease from
-- ARGV[5]  "idle": where nothing is found, the thread is to be handed a task (lib/hand.lua); only with one queue.
--          "again": the same, and it may stand there from before, or have been handed one meanwhile: then it is given
--          no other. "woken": this comes behind a wait for wake-ups; with one queue the same as "idle". Else ""
-- then     for each of these: the session's id, and the session's description if it has not begun there, else empty
-- then     for each queue to settle in: its index in KEYS, the session, the lease that must stand under the ids
--          ("<since ms> <thread>") or "" for any, the number of plain completions and their ids, the number of records
--          and, for each: outcome, id, and three arguments:
--            done    result, "1" if there is one, letters ("i": it has an info:<id> or parents:<id>, "1": a unique
--                    key, "k": one that it keeps until once.lua (it begins now and runs at most once), "c": a
--                    checkpoint, "d": a deadline)                              completed
--            retry   delay in ms, kind, message               failed, tried again later
--            fail    "1" if this is a failure of an attempt (else the count stays), kind, message     dead
--            hand    handle, options and rest (as in enqueue.lua) of a task that this one hands on; its completion
--                    follows
--            snooze  delay in ms (0: to the front now), "1" if its handler had begun, ""
--          the first of the records may instead be: "results", how many, and these: of the last so many plain
--          completions, which are then plain but for that. Or "bundle", how many, and all of them as one argument: for
--          each of these completions, in their order, "<id> <bytes>", a newline and the bytes, nothing in between (for
--          small ones: they are kept like that, lib/result_block.lua)
-- reply    [1] now in ms
--          [2] what was refused: the session does not hold it. Of the first group of completions and records an id, of a
--              later one "<which group> <id>", as two queues may have tasks of the same id
--          [3] the indexes of queues in which the session is gone: begin a new one
--          [4] for each leased task that has something to tell: {id, failures, crashes}, with a fourth, letters, when
--              it left a checkpoint ("c") or crashed while it ran alone ("a"); {"idle"}: the thread is to wait for what it is handed; where a session has begun:
--              {"#", index in KEYS, the queue's policy (JSON) or "", its result_max or ""}
--          [5...] for each queue with leased tasks: {index in KEYS, id, envelope, id, envelope, ...}
--          where [2] to [4] would be empty, and at most one queue leases: that list alone, with [1] behind it; or {now}
--
-- Sent twice: settling hits only once, but for a task that the session has leased again in between: say which lease is
-- meant where that can be. What a lost reply leased is found again by recover.lua, which also tells what was settled.
-- Ask that first.
--
-- To make a function costs Lua as much as a small command costs Redis, and a script makes its functions anew at each
-- call; a number in a command, or a list in the reply, costs half as much. So the common case (plain completions, and
-- tasks with nothing to tell in a queue without limits) is written out here without any; all the rest is in two
-- functions, which are made when they are first needed (and `now` with them); they share no local of what is around them,
-- for each would cost at every call. Numbers are not read where they are 1 or 0, nor tables made that may not be needed; one
-- that gets its first element grows, unless it was made with room for it. Nor is `unpack` called for a single task.

local given, prefixes = ARGV, KEYS
local call, byte, format = redis.call, string.byte, string.format
local thread, ask, ttl = given[1], given[2], given[3]
local want, queues = ask == '1' and 1 or tonumber(ask), given[4] == '1' and 1 or tonumber(given[4])
-- To compare costs much less than to call a function, and says the same as a look at the bytes where Redis's locale orders
-- texts by them, as most do. How long a session lives only the beginning of one asks: else it is no more than looked at.
local by_bytes = 'Z' < 'a'
if not (want and want >= 0 and want % 1 == 0 and queues and queues >= 0 and queues <= #prefixes and queues % 1 == 0 and
  (queues == 1 and given[7] == '' and by_bytes and ttl >= '0' and ttl < ':' or (tonumber(ttl) or -1) >= 0) and
  #given >= 5 + 2 * queues) then
  return redis.error_reply('ERR turn: ARGV[2] to ARGV[4] are how many tasks, a time in ms, and how many of KEYS')
end
-- What is unpacked below must fit on the stack of Redis's Lua.
if want > @CALL_MAX@ then want, ask = @CALL_MAX@, '@CALL_MAX@' end
local time = call('TIME')
local millis, now = time[2], nil
local now_text = time[1] .. (#millis == 6 and string.sub(millis, 1, 3) or format('%03d', millis / 1000))
local refused, extras, settings, stands = {}, {}, {false}, {false}
local gone, freed, shut, lists, leased_first, leased_more = false, false, false, 0, false, false

-- What is not common: wakes a thread, or returns what settles or leases.
local settling, leasing
local function rare(what, P)
-- require: wake_one
  if what == 'wake' then return wake_one(P) end
-- require: base
  -- In a function, where the names above cost less to capture: see CONTRIBUTING.md.
  return (function()
-- require: limit_state, schedule, allowed, put_aside
    if what == 'leasing' then
-- require: lease
      return lease
    end
-- require: settle, outcomes, retention
    return {allowed = not_allowed, check = check_records, plain = settle_plain, results = results_of, record = settle_record,
      outcomes = outcomes, trim = trim_count}
  end)()
end

-- All that was brought is looked at before anything is written.
local at, fault, final = 6 + 2 * queues, nil, #given
-- One plain completion, which most turns bring.
if final == at + 5 and given[at] == '1' and given[at + 3] == '1' and given[final] == '0' and prefixes[1] and
  #given[at + 4] == @UUID_BYTES@ then
  at = final + 1
end
while at <= final and not fault do
  local index, plain = given[at], given[at + 3]
  plain = plain == '1' and 1 or tonumber(plain)
  index = index == '1' and 1 or tonumber(index) or 0
  if not (prefixes[index] and plain and plain >= 0 and plain <= @CALL_MAX@ and plain % 1 == 0) then
    fault = 'a group names no queue of KEYS, or more than @CALL_MAX@ completions'
    break
  end
  -- What begins with less than '-' is no id, but may be a field that a session has about itself. None of these is as long
  -- as the ids that clients make, 36 bytes: to look at the length costs a tenth.
  local last = at + 3 + plain
  for i = at + 4, last < final and last or final do
    local id = given[i]
    if #id ~= @UUID_BYTES@ and (byte(id) or 0) < @ID_BYTE_MIN@ then
      fault = 'an id is none'
      break
    end
  end
  if last >= final then fault = 'ids are missing' end
  if fault then break end
  local records = given[at + 4 + plain]
  at = at + 5 + plain
  if records ~= '0' then
    records = tonumber(records)
    if not (records and records >= 0 and records % 1 == 0) then
      fault = 'no number of records'
      break
    end
    local word = given[at]
    if word == 'bundle' or word == 'results' then
      local results = tonumber(given[at + 1])
      if not (results and results >= 0 and results <= plain and results % 1 == 0) then
        fault = 'more results than completions'
        break
      end
      at, records = at + 2 + (word == 'bundle' and 1 or results), records - 1
    end
    if records > 0 then
      settling, now = settling or rare('settling'), tonumber(now_text)
      at, fault = settling.check(at, records)
      at = at or 0
    end
  end
end
if fault or at ~= final + 1 then return redis.error_reply('ERR turn: ' .. (fault or 'arguments are missing')) end

-- A session that held all that it settled here stands: below, that need not be asked.
local refusals, group = 0, 0
at = 6 + 2 * queues
while at <= #given do
  group = group + 1
  local index, plain = given[at], given[at + 3]
  index, plain = index == '1' and 1 or tonumber(index), plain == '1' and 1 or tonumber(plain)
  local P, held = prefixes[index], given[at + 2]
  local session = given[at + 1]
  local running, first, last = P .. 'running:' .. session, at + 4, at + 3 + plain
  local s = call('HMGET', P .. 'settings', 'completed_age', 'completed_count', 'completed_bytes', 'waiters', 'paused',
    'large', 'gate')
  settings[index] = s
  local records, results, bundle, members, n, completed = given[last + 1], 0, false, nil, 0, plain
  records = records == '0' and 0 or tonumber(records)
  at = last + 2
  if records > 0 then
    bundle = given[at] == 'bundle'
    if bundle or given[at] == 'results' then
      records, results, at = records - 1, tonumber(given[at + 1]), at + 2
    end
  end
  -- A right may be taken away during a session. A parent that had ended by then, and whose children had not heard of it,
  -- would be settled: no later call would tell them.
  if s[4] then
    settling, now = settling or rare('settling'), tonumber(now_text)
    local words = settling.allowed(P, 'EXISTS GET HDEL HEXISTS HGET HINCRBY HMGET HSET LLEN LPOP LPUSH RENAME RPUSH SADD ' ..
      'SMISMEMBER SREM ZADD ZCARD ZRANGE ZREM ZSCORE')
    if words then return redis.error_reply(words) end
  end
  -- A batch of completions is at most a lease's batch: well within what unpack takes.
  if plain > 0 then
    local hit = held == '' and not (s[4] or s[7] or results > 0 and (s[3] or s[1] == '0' or s[2] == '0')) and
      (plain == 1 and call('HDEL', running, given[first]) or call('HDEL', running, unpack(given, first, last)))
    if hit ~= plain then
      local ids = {unpack(given, first, last)}
      settling, now = settling or rare('settling'), tonumber(now_text)
      completed = settling.plain(P, running, held, ids, hit, now, s, refused, settling.results(ids, results, at, bundle))
    elseif s[1] == '0' or s[2] == '0' then
      if plain == 1 then
        call('HDEL', P .. 'tasks', given[first])
      else
        call('HDEL', P .. 'tasks', unpack(given, first, last))
      end
    else
      if plain == 1 then
        members, n = true, 2
      else
        members = {}
        for i = first, last do
          members[n + 1], members[n + 2], n = now_text, given[i], n + 2
        end
      end
      if bundle then
        local field = '+' .. now_text
        if call('HSETNX', P .. 'results', field, given[at]) == 1 then
          call('ZADD', P .. 'bundles', now_text, now_text)
        else
          call('HSET', P .. 'results', field, call('HGET', P .. 'results', field) .. given[at])
        end
      elseif results > 0 then
        local left, f = {}, 0
        for i = 0, results - 1 do
          left[f + 1], left[f + 2], f = given[last - results + 1 + i], given[at + i], f + 2
        end
        call('HSET', P .. 'results', unpack(left))
      end
    end
  end
  at = at + (bundle and 1 or results)
  if members == true then
    call('ZADD', P .. 'completed', now_text, given[first])
  elseif members then
    call('ZADD', P .. 'completed', unpack(members))
  end
  if completed > 0 then
    local counted = redis.pcall('HINCRBY', P .. 'counters', 'completed', completed == 1 and '1' or format('%d', completed))
    -- What is too many is removed when it is worth the while: a part in 64 more may stand meanwhile. How many there are
    -- is asked twice within that, when the counter passes a multiple of half of it.
    local most = members and (tonumber(s[2]) or 10000) or 0
    if most > 0 and (type(counted) ~= 'number' or counted % (most / 128) < completed) and
      call('ZCARD', P .. 'completed') > most + most / 100 then
      settling, now = settling or rare('settling'), tonumber(now_text)
      -- Somebody else may have written what is no whole number.
      if most % 1 ~= 0 then most = 10000 end
      settling.trim(P, 'completed', most, n + 500, now, true)
    end
  end
  -- Looked at above, so that `settling` and `now` are there.
  if records > 0 then
    completed = 0
    for _ = 1, records do
      if settling.record(P, running, held, at, settling.outcomes, now, s, refused) == 'completed' then
        completed = completed + 1
      end
      at = at + 5
    end
    if completed > 0 then redis.pcall('HINCRBY', P .. 'counters', 'completed', format('%d', completed)) end
  end
  if s[7] then
    freed = freed or {}
    freed[index] = true
  end
  if #refused == refusals then stands[index] = session end
  for i = refusals + 1, group > 1 and #refused or 0 do refused[i] = format('%d ', group) .. refused[i] end
  refusals = #refused
end

local woken = given[5] == 'woken'
if given[5] == 'again' and queues == 1 then
  local name = given[6] .. ':' .. thread
  if call('LREM', prefixes[1] .. 'idle', '0', name) == 0 and call('EXISTS', prefixes[1] .. 'hand:' .. name) == 1 then
    want, extras[1] = 0, {'idle'}
  end
end

local unasked
for index = 1, want > 0 and queues or 0 do
  local P = prefixes[index]
  local s = settings[index]
  -- Of several queues most may be empty: for these one question will do.
  local there = s or queues == 1 or call('EXISTS', P .. 'ready') == 1
  if there and not s then
    -- In the places that they have above. What ends a task asks more.
    local asked = call('HMGET', P .. 'settings', 'paused', 'large', 'gate')
    s = {[5] = asked[1], [6] = asked[2], [7] = asked[3]}
    settings[index] = s
  end
  -- One more than is wanted: whether another thread must be woken is then known, not guessed. Where the first is a
  -- packet, two of those behind it say all.
  local ids = there and not s[5] and not s[6] and not s[7] and call('ZRANGE', P .. 'ready', '0', want > 2 and '2' or ask)
  if ids and want > 2 and ids[3] and byte(ids[1]) ~= @PACKET_BYTE@ then ids = call('ZRANGE', P .. 'ready', '0', ask) end
  if there and not s[5] and (not ids or #ids > 0) then
    local session = given[4 + 2 * index]
    local running = P .. 'running:' .. session
    local plain, more = ids and (stands[index] == session or call('HEXISTS', running, '#') == 1), false
    local leased, leases, since, taken, packet, list, left
    local first, first_list, first_count = nil, nil, 0
    if plain and byte(ids[1]) == @PACKET_BYTE@ then
      -- The '+' of a packet, see lib/segment.lua. What is wanted is in it and the next one, or all there is, and nothing
      -- in between.
      local behind, third = ids[2], ids[3]
      packet = ids[1]
      list = P .. 'packet:' .. string.sub(packet, 2)
      ids = call('LPOP', list, ask) or {}
      left = call('LLEN', list)
      plain = #ids > 0
      if plain and #ids < want and behind and byte(behind) == @PACKET_BYTE@ then
        first, first_list, first_count = packet, list, #ids
        packet, behind = behind, third
        list = P .. 'packet:' .. string.sub(packet, 2)
        for _, id in ipairs(call('LPOP', list, format('%d', want - first_count)) or {}) do ids[#ids + 1] = id end
        left = call('LLEN', list)
      end
      more = left > 0 or behind
      plain = plain and (#ids == want or not behind)
      if plain and behind and byte(behind) ~= @PACKET_BYTE@ then
        plain = call('ZSCORE', P .. 'ready', behind) - call('ZSCORE', P .. 'ready', packet) >
          @SCORE_STEP@ * (want - 1 - first_count)
      end
    elseif plain then
      more = #ids > want
      ids[want + 1] = nil
    end
    if plain then
      local n, tasks = 0, P .. 'tasks'
      local envelopes = ids[2] and call('HMGET', tasks, unpack(ids)) or call('HMGET', tasks, ids[1])
      taken, since = #ids, now_text .. ' ' .. thread
      if taken == 1 then leased = {index, ids[1], envelopes[1], nil} else leases, leased = {}, {index} end
      -- A packet among them has none. An envelope that has more to tell is marked, see lib/base.lua. No id begins with
      -- what comes before '-'.
      for i = 1, taken do
        local id, envelope = ids[i], envelopes[i]
        if not envelope then
          plain = false
        elseif by_bytes then
          if id < '-' or envelope >= '{"b' or envelope < '{"a' then plain = false end
        elseif byte(envelope, 3) == @INFO_BYTE@ or (byte(id) or 0) < @ID_BYTE_MIN@ then
          plain = false
        end
        if leases then
          leases[n + 1], leases[n + 2], leased[n + 2], leased[n + 3], n = id, since, id, envelope, n + 2
        end
      end
    end
    -- The leases first: what is refused behind them is found there (recover.lua).
    local wrong
    if plain then
      if leases then wrong = redis.pcall('HSET', running, unpack(leases)) else
        wrong = redis.pcall('HSET', running, ids[1], since)
      end
      if type(wrong) == 'number' then wrong = nil end
    end
    if packet and (wrong or not plain) then
      for i = #ids, 1, -1 do call('LPUSH', i <= first_count and first_list or list, ids[i]) end
    end
    if wrong then return wrong end
    if plain then
      if not packet then
        local last = taken == 1 and '0' or more and format('%d', taken - 1) or '-1'
        call('ZREMRANGEBYRANK', P .. 'ready', '0', last)
      else
        if first then
          call('ZREM', P .. 'ready', first)
          call('SREM', P .. 'packets', string.sub(first, 2))
        end
        if left > 0 then
          local step = taken == 1 and '@SCORE_STEP@' or format('%d', @SCORE_STEP@ * (taken - first_count))
          call('ZINCRBY', P .. 'ready', step, packet)
        else
          call('ZREM', P .. 'ready', packet)
          call('SREM', P .. 'packets', string.sub(packet, 2))
        end
      end
      if more and call('LLEN', P .. 'wake') == 0 then
        rare('wake', P)
      end
    else
      local closed
      leasing, now = leasing or rare('leasing'), tonumber(now_text)
      leased, closed = leasing(P, index, session, given[5 + 2 * index], ttl, want, thread, now, lists > 0, s,
        extras, stands[index] == session)
      if closed then
        shut = shut or {}
        shut[index] = true
      end
      taken = leased and (#leased - 1) / 2 or 0
    end
    if leased == false then
      gone = gone or {}
      gone[#gone + 1] = index
    elseif taken > 0 then
      lists = lists + 1
      if lists == 1 then leased_first = leased else
        leased_more = leased_more or {}
        leased_more[lists - 1] = leased
      end
      want = want - taken
      -- A task that must be alone ends the lease, also if there would be room.
      local last = extras[#extras]
      if want <= 0 or (last and last[1] ~= '#' and last[3] > 0) then
        unasked = index + 1
        break
      end
      ask = format('%d', want)
    end
  end
end

-- Nothing was found: from now on somebody waits. (`next`: see lib/sequence.lua.) Somebody may wait as well where the
-- wake-up was taken: another thread that found nothing before the tasks came, and blocks behind us.
for index = 1, (woken or want > 0 and lists == 0) and queues or 0 do
  local P, s = prefixes[index], settings[index]
  local last = call('HGET', P .. 'order', 'next')
  if last then
    if tonumber(last) > @SCORE_START@ then call('HSET', P .. 'order', '0', last) end
    call('HDEL', P .. 'order', 'next')
  end
  -- Something is ready where what came first was put off. That session stands: 2, and something is ready: 1 more.
  local running = given[5] ~= '' and queues == 1 and want > 0 and lists == 0 and P .. 'running:' .. given[6]
  if running and not s[5] and not s[7] and call('EXISTS', running, running, P .. 'ready') == 2 then
    call('LPUSH', P .. 'idle', given[6] .. ':' .. thread)
    call('DEL', P .. 'wake') -- (nobody waited for that token)
    extras[#extras + 1] = {'idle'}
  end
end

-- The wake-up may have been that of a queue that was not asked: then it is for somebody else.
for index = woken and unasked or queues + 1, queues do
  local P = prefixes[index]
  if call('EXISTS', P .. 'ready') == 1 and call('HEXISTS', P .. 'settings', 'paused') == 0 then
    rare('wake', P)
  end
end

-- Where limits hold, places that became free here are for whoever waits.
if freed then
  for index in pairs(freed) do
    local P = prefixes[index]
    if not (shut and shut[index]) and not settings[index][5] and call('EXISTS', P .. 'ready') == 1 then rare('wake', P) end
  end
end
if #refused > 0 or gone or #extras > 0 or lists > 1 then
  local reply = {now or tonumber(now_text), refused, gone or {}, extras}
  if leased_first then reply[5] = leased_first end
  for i = 1, lists - 1 do reply[5 + i] = leased_more[i] end
  return reply
end
local leased = leased_first or {}
leased[#leased + 1] = now_text
return leased
