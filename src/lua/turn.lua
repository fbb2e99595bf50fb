#!lua flags=allow-oom
-- turn: a thread's whole turn in one call: settles what it finished, then leases what it takes next.
--
-- KEYS     the prefixes of the queues to lease from, in order, then those that are only settled
-- ARGV[1]  the thread's name within its session
-- ARGV[2]  how many tasks to lease at most; 0: only settle
-- ARGV[3]  how long a session lives without a heartbeat, in ms
-- ARGV[4]  L: how many of KEYS to lease from
-- then     for each of these: the session's id, and the session's description if it has not begun there, else empty
-- then     for each queue to settle in: its index in KEYS, the session, the lease that must stand under the ids ("<since ms>
--          <thread>") or "" for any, the number of plain completions and their ids, the number of records and, for each:
--          outcome, id, and three arguments:
--            done    result, "1" if there is one, "1" if it has a unique key          completed
--            retry   delay in ms, kind, message               failed, tried again later
--            fail    "1" if this is a failure of an attempt (else the count stays), kind, message     dead
--            snooze  delay in ms (0: to the front now), "", ""
-- reply    [1] now in ms
--          [2] the ids whose outcome was refused: the session does not hold them
--          [3] the indexes of queues in which the session is gone: begin a new one
--          [4] for each leased task that has something to tell: {id, failures, crashes}; where a session has begun in a queue
--              that has a policy: {"#", index in KEYS, policy (JSON)}
--          [5...] for each queue with leased tasks: {index in KEYS, id, envelope, id, envelope, ...}
--
-- Sent twice: settling hits only once, but for a task that the session has leased again in between: say which lease is
-- meant where that can be. What a lost reply leased is found again by recall.lua, which also tells what was settled. Ask
-- that first.
-- include: lib/base.lua

-- (Functions are made anew at each call of a script, so those of a rare path are made where it begins.)
local thread, want, ttl, queues = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local now = clock()
local refused, gone, extras = {}, {}, {}
local reply = {now, refused, gone, extras}
local settings, freed, shut = {}, {}, {}

local function settings_of(index)
  if not settings[index] then
    settings[index] = call('HMGET', KEYS[index] .. 'settings', 'completed_age', 'completed_count', 'dead_age',
      'dead_count', 'waiters', 'paused', 'large', 'gate')
  end
  return settings[index]
end

local made_gate
local function make_gate()
  if made_gate then return made_gate end
-- include: lib/order.lua
-- include: lib/front.lua
-- include: lib/gate.lua
-- include: lib/gate_lease.lua
  made_gate = gates
  return made_gate
end

local function settle_all(at)
-- include: lib/keep.lua
-- include: lib/notify.lua
-- include: lib/where.lua
-- include: lib/settle.lua

  local function make_outcomes()
-- include: lib/order.lua
-- include: lib/front.lua
-- include: lib/schedule.lua
-- include: lib/unique.lua
-- include: lib/put.lua
-- include: lib/death.lua
-- include: lib/outcomes.lua
    return outcomes
  end

  local outcomes
  while at <= #ARGV do
    local index = tonumber(ARGV[at])
    local P, running, held = KEYS[index], KEYS[index] .. 'running:' .. ARGV[at + 1], ARGV[at + 2]
    local plain = tonumber(ARGV[at + 3])
    at = at + 4
    -- (A plain completion's batch is at most a lease's batch: well within what unpack takes.)
    if plain > 0 then
      settle_plain(P, running, held, {unpack(ARGV, at, at + plain - 1)}, now, settings_of(index), refused)
    end
    at = at + plain
    local records = tonumber(ARGV[at])
    at = at + 1
    for _ = 1, records do
      outcomes = outcomes or make_outcomes()
      settle_record(P, running, held, at, outcomes, now, settings_of(index), refused)
      at = at + 5
    end
    if settings_of(index)[8] then freed[index] = true end
  end
end

local function lease_all()
  local made_marked
  local function make_marked()
    if made_marked then return made_marked end
-- include: lib/told.lua
-- include: lib/schedule.lua
-- include: lib/marked.lua
    made_marked = marked
    return made_marked
  end
-- include: lib/lease.lua

  for index = 1, queues do
    if not settings_of(index)[6] then
      local leased
      leased, shut[index] = lease(KEYS[index], index, ARGV[3 + 2 * index], ARGV[4 + 2 * index], ttl, want, thread, now,
        #reply > 4, settings_of(index), extras)
      if leased == false then
        gone[#gone + 1] = index
      elseif leased and #leased > 1 then
        reply[#reply + 1] = leased
        want = want - (#leased - 1) / 2
        -- (A task that must be alone ends the lease, also if there would be room.)
        local last = extras[#extras]
        if want <= 0 or (last and last[1] ~= '#' and last[3] > 0) then break end
      end
    end
  end
end

if 5 + 2 * queues <= #ARGV then settle_all(5 + 2 * queues) end
if want > 0 then lease_all() end
-- (Where limits hold, places that became free here are for whoever waits.)
for index in pairs(freed) do
  if not shut[index] and not settings[index][6] and call('EXISTS', KEYS[index] .. 'ready') == 1 then wake(KEYS[index]) end
end
return reply
