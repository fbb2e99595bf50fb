#!lua
-- enqueue: puts tasks into a queue, to run in order or at a time.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  how the tasks come:
--          "0"      for each: its id, its options, and the rest of its envelope
--          "1"      the same, and this call was sent before and its reply was lost
--          "carried <queue> <number> <floor>"   the same as "1", of one task: a message of that queue's outbox
--                   (outbox.lua), which counts once, however often and late it comes (lib/received.lua). floor: the
--                   lowest number that the outbox had when it was fetched, or 0 when that is not known
--          "again <ms> <at>"  the same; the first copy was sent so long ago, or less, and Redis's clock said <at> then, or
--                   less, as the caller reckons (lib/proof.lua): what it made may be gone by now. <at> may be missing
--          "plain"  none has options, and this is the first try: all ids, then the rests of their envelopes
--          "idle"   the same; somebody may well wait, which is looked up first where it is one task
--          "laid"   the same, of at least @PACKET_MIN@ and at most @PACKET_MAX@, and they are there already: lib/bulk_insert.lua
-- ARGV[2...] options: JSON or empty: in, at [ms], priority, group, weight; unique, until, hold [ms], conflict;
--            deadline, or expires in [ms]; tags; after. The rest of an envelope: what follows '{"at":<now>,'
--            unique, until, hold: see lib/unique.lua. conflict, when another task has the key: nothing: refused;
--            "replace": it takes the place of one that waits, but at its own time or priority if it has one;
--            "debounce": one that waits goes, and this one comes at its own time. Either takes over what waits for the
--            other one (lib/heirs.lua); where that is more than 1000 tasks it is refused. It waits for the parents of a
--            blocked one, at most 64, where it has no `after`; where `after` names the other one it is refused
--            after: [[handle, policy], ...], the tasks that it waits for, see lib/dependency_register.lua; at most @PARENTS_MAX@
-- reply    for each task: 1 enqueued, 0 refused, the id is taken, -1 not known (again); or the id of the task that
--          holds its unique key: refused; or "unknown <id>": refused, there is no such parent in this queue, nor a
--          record of it. Where all are enqueued the common way, no list: of one task 1, or 2, a thread has it already;
--          of several now in ms
--          An error when ARGV[1] is none of these, arguments are missing or too many (more than @ENQUEUE_MAX@ tasks), or the id,
--          the options or the beginning of the envelope of any task is none (docs/protocol.md): nothing is done then
--
-- Sent twice: an id that exists is left alone; with ARGV[1] = 1 it counts as enqueued when its envelope is the one that
-- we bring. So does one that is gone and still has its key, for a time. One that was laid and has no place gets it then.
-- With "again", one that is not there is enqueued only if no record of a task that ended since the first copy was sent
-- can have gone: else it may have run already, and nothing is done.
--
-- As in turn.lua, the common case (tasks without options, none of which is known, in a queue without groups and events)
-- is written out without functions; all the rest is in one, which makes those that it needs.

local call, given, P = redis.call, ARGV, KEYS[1]
if not P then return redis.error_reply('ERR @NAME@: KEYS[1] is missing') end
local way, time = given[1], call('TIME')

local find, format = string.find, string.format
local seconds, millis = time[1], time[2]
millis = #millis == 6 and string.sub(millis, 1, 3) or format('%03d', millis / 1000)
local P_tasks, P_order = P .. 'tasks', P .. 'order'
-- done: what a pass needed that is not common, and has been done: "handed": nobody took it, "woken".
local needs, done, envelope, last = false, false, nil, nil

while true do
-- Left by `break` where something is not common. At most LARGE bytes: see lib/base.lua. For `next` see lib/sequence.lua.
while way == 'plain' or way == 'idle' do
  local count, wakes = (#given - 1) / 2, false
  if done then
    needs = false
  elseif count == 1 then
    local id, rest = given[2], given[3]
    -- What is no task is refused there. To look at each byte of an id is dear, so not of one that is as long as a UUID: if
    -- it has bytes that no id has, that task alone is malformed, when it is met.
    if #rest > @LARGE@ or not find(rest, '\n', 1, true) or
      #id ~= @UUID_BYTES@ and (#id > @ID_LENGTH_MAX@ or not find(id, '^[%w._:-]+$')) then
      break
    end
    envelope = '{"at":' .. seconds .. millis .. ',' .. rest
  elseif count < 1 or count % 1 > 0 or count > @ENQUEUE_MAX@ then
    break
  else
    local odd
    for i = 2, count + 1 do
      local id = given[i]
      if #id ~= @UUID_BYTES@ and (#id > @ID_LENGTH_MAX@ or not find(id, '^[%w._:-]+$')) then odd = true end
    end
    if odd then break end
  end

  if not last and (done or not envelope or way == 'plain') then
    last = call('HINCRBY', P_order, 'next', envelope and '@SCORE_STEP@' or format('%d', @SCORE_STEP@ * count))
  end
  if envelope and not done and (not last or last <= @SCORE_START@) then
    needs = 'hand'
    break
  end
  wakes = last <= @SCORE_START@
  if wakes then
    local order = call('HMGET', P_order, '0', 'groups', 'events')
    if order[2] or order[3] then break end
    last = (tonumber(order[1]) or @SCORE_START@) + @SCORE_STEP@ * count
  end
  if last >= @SCORE_BAND@ then break end

  if count > 1 and not done then
    local known = call('HMGET', P_tasks, unpack(given, 2, count + 1))
    local odd
    for i = 1, count do
      if known[i] or #given[count + 1 + i] > @LARGE@ then odd = true end
    end
    if odd then break end
  end
  -- Before the tasks are there, so that none is where this is refused.
  if wakes then
    if call('LLEN', P .. 'wake') == 0 then
      call('HSET', P_order, '0', format('%d', last))
      needs = 'wake'
      break
    else
      call('HSET', P_order, 'next', format('%d', last))
    end
  end

  if count == 1 then
    if call('HSETNX', P_tasks, given[2], envelope) == 0 then break end
    local wrong = redis.pcall('ZADD', P .. 'ready', format('%d', last), given[2])
    if wrong ~= 1 and wrong ~= 0 then
      redis.pcall('HDEL', P_tasks, given[2])
      return wrong
    end
  else
    local unpack, stamp, new, n, ready = unpack, '{"at":' .. seconds .. millis .. ',', {}, 0, nil
    -- A few make a packet, or go into the one that came last if nothing came in between (lib/segment.lua). (There are not to
    -- be too many: whoever looks at them by pages passes them all.)
    local score, p, joins = last - @SCORE_STEP@ * count, nil, false
    if count >= @PACKET_MIN@ and count <= @PACKET_MAX@ then
      local newest, tail = string.match(call('HGET', P_order, 'packet') or '', '^(%d+) (%d+)$')
      joins = newest and tonumber(tail) == score and call('ZSCORE', P .. 'ready', '+' .. newest) and
        call('LLEN', P .. 'packet:' .. newest) <= @PACKET_MAX@ - count
      p = joins and newest or format('%d', (score - @SCORE_START@) / @SCORE_STEP@)
      if not joins and (call('EXISTS', P .. 'packet:' .. p) == 1 or
        count < @PACKET_MANY@ and call('SCARD', P .. 'packets') >= @PACKETS_MAX@) then p = nil end
    end
    if p then stamp = stamp .. '"p":' .. p .. ',' else ready = {} end
    for i = 2, count + 1 do
      new[n + 1], new[n + 2] = given[i], stamp .. given[count + i]
      if ready then
        score = score + @SCORE_STEP@
        ready[n + 1], ready[n + 2] = format('%d', score), given[i]
      end
      n = n + 2
    end
    if call('HSET', P_tasks, unpack(new)) < count then
      -- An id came twice in this very call.
      call('HDEL', P_tasks, unpack(given, 2, count + 1))
      break
    end
    local wrong
    if ready then
      wrong = redis.pcall('ZADD', P .. 'ready', unpack(ready))
    else
      wrong = redis.pcall('RPUSH', P .. 'packet:' .. p, unpack(given, 2, count + 1))
      if type(wrong) == 'number' and not joins then
        wrong = redis.pcall('SADD', P .. 'packets', p)
        if type(wrong) == 'number' then
          wrong = redis.pcall('ZADD', P .. 'ready', format('%d', score + @SCORE_STEP@), '+' .. p)
        end
        if type(wrong) ~= 'number' then
          redis.pcall('UNLINK', P .. 'packet:' .. p)
          redis.pcall('SREM', P .. 'packets', p)
        end
      end
    end
    if type(wrong) ~= 'number' then
      redis.pcall('HDEL', P_tasks, unpack(given, 2, count + 1))
      return wrong
    end
    if not ready then call('HSET', P_order, 'packet', p .. ' ' .. format('%d', last)) end
  end
  do return count == 1 and 1 or seconds * 1000 + millis end
end

-- It is given what it needs: each name that a function shares with what is around it costs at every call.
local function rare(what, P, ...)
-- require: hand
  if what == 'hand' then return hand_to_idle(P, ...) end
-- require: wake_one
  if what == 'wake' then return wake_one(P) end
-- require: bulk_insert
  if what == 'laid' then return place_packet(P, ...) end
-- require: base
-- In functions, where the names above cost less to capture: see CONTRIBUTING.md.
  return (function(...)
-- require: options, sequence, transitions, enqueue_lists
    return (function(...)
-- require: enqueue_undo
      return enqueue_or_undo(P, ARGV, ...)
    end)(...)
  end)(what)
end
if needs == 'hand' then
  local reply = rare('hand', P, given[2], envelope, seconds .. millis)
  if reply and reply ~= 'rare' then return reply end
  if reply == 'rare' then return rare(time, P) end
  done = 'handed'
elseif needs == 'wake' then
  rare('wake', P)
  done = 'woken'
else
  return way == 'laid' and rare('laid', P, seconds * 1000 + millis) or rare(time, P)
end
end
