#!lua flags=no-writes,allow-cross-slot-keys
-- overview: what a screen of all queues shows, in one call. It is for one server; in a cluster each queue has a node of its own.
--
-- KEYS[1]  a queue's prefix: of the page, or of any queue
-- ARGV[1]  the namespace
-- ARGV[2]  "workers": with the records of workers; or ""
-- ARGV[3]  "cron": with the recurring entries of all queues; or ""
-- ARGV[4]  the state of the tasks of a page; "": none
-- ARGV[5]  how many tasks of the queue of KEYS[1]
-- reply    [1] {name, as stat.lua returns it, ... for each queue}
--          [2] {id, record or "", ...}
--          [3] {queue, as cron_look.lua lists a page, ...}
--          [4] as list.lua returns it
--          Each of them is nil if it was not asked for, or is too large for one call: more than 100 queues, 1000 sessions in them,
--          200 workers, or 500 entries. Then ask for each of its parts
--
-- Sent twice: it only reads.
-- require: base, absent, whole, queue_numbers, task_page, cron_stopped, cron_page

local P, ns, most = KEYS[1], ARGV[1], whole(ARGV[5], 0, LATEST)
local STATES = '  @STATE_NAMES@ '
if not P or not ns or not most or not find(STATES, ' ' .. ARGV[4] .. ' ', 1, true) then
  return redis.error_reply('ERR @NAME@: it takes a namespace, "workers" or "", "cron" or "", a state or "", and a number')
end
local QUEUES_MAX, SESSIONS_MAX, WORKERS_MAX, ENTRIES_MAX = 100, 1000, 200, 500

local function prefix_of(queue)
  return ns .. ':{' .. queue .. '}:'
end

-- The names of queues, or false where there are too many.
local function known_queues()
  if call('SCARD', ns .. ':queues') > QUEUES_MAX then return false end
  local names, sessions = {}, 0
  for _, name in ipairs(call('SMEMBERS', ns .. ':queues')) do
    if find(name, '^[%w._~-]+$') then
      names[#names + 1] = name
      sessions = sessions + call('ZCARD', prefix_of(name) .. 'sessions')
    end
  end
  return sessions <= SESSIONS_MAX and names
end

local function all_numbers(names)
  local reply = {}
  for i, name in ipairs(names) do
    reply[2 * i - 1], reply[2 * i] = name, numbers_of(prefix_of(name))
  end
  return reply
end

local function all_workers()
  if call('SCARD', ns .. ':workers') > WORKERS_MAX then return false end
  local reply = call('SMEMBERS', ns .. ':workers')
  for i = #reply, 1, -1 do
    local id = reply[i]
    reply[2 * i - 1], reply[2 * i] = id, call('GET', ns .. ':worker:' .. id) or ''
  end
  return reply
end

local function all_entries(names)
  local reply, entries = {}, 0
  for _, name in ipairs(names) do
    local queue = prefix_of(name)
    entries = entries + call('HLEN', queue .. 'cron')
    if entries > ENTRIES_MAX then return false end
    if call('EXISTS', queue .. 'cron') == 1 then
      local n = #reply
      reply[n + 1], reply[n + 2] = name, cron_page(queue, '0')
    end
  end
  return reply
end

local names = known_queues()
local numbers = names and all_numbers(names)
local workers = ARGV[2] == 'workers' and all_workers()
local entries = ARGV[3] == 'cron' and names and all_entries(names)
local page = ARGV[4] ~= '' and task_page(P, ARGV[4], 0, most, '', '')
return {numbers, workers, entries, page}
