#!lua
-- enqueue: puts tasks into a queue, to run in order or at a time.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "1" when this call was sent before and its reply was lost, else "0"
-- ARGV[2...] for each task: its id, its options (JSON or empty: in, at [ms], priority, group, weight), and the rest of its
--            envelope: what follows '{"at":<now>,'
-- reply    for each task: 1 enqueued, 0 refused, the id is taken
--
-- Sent twice: an id that exists is left alone; with ARGV[1] = 1 it counts as enqueued when its envelope is the one that
-- we bring.
-- include: lib/base.lua
-- include: lib/order.lua

local P, again = KEYS[1], ARGV[1] == '1'
local now = clock()
local stamp = '{"at":' .. text(now) .. ','
local count = (#ARGV - 1) / 3
if count == 0 then return {} end
local result, new, ready, later = {}, {}, {}, {}
local known
if count > 1 then
  local ids = {}
  for i = 1, count do ids[i] = ARGV[3 * i - 1] end
  known = call('HMGET', P .. 'tasks', unpack(ids))
else
  known = {call('HGET', P .. 'tasks', ARGV[2])}
end

local order = order_open(P)
local taken, first_due, large = {}, nil, false
for i = 1, count do
  local id, options, rest = ARGV[3 * i - 1], ARGV[3 * i], ARGV[3 * i + 1]
  if known[i] or taken[id] then
    result[i] = 0
    if again and known[i] and sub(known[i], -#rest) == rest then result[i] = 1 end
  else
    result[i], taken[id] = 1, true
    new[#new + 1] = id
    new[#new + 1] = stamp .. rest
    large = large or #rest > LARGE
    local due, priority, group, weight
    if options ~= '' then
      local o = cjson.decode(options)
      due, priority, group, weight = o.at or o['in'] and now + o['in'], o.priority, o.group, o.weight
      if due then due = math.min(due, LATEST) end
    end
    if due and due > now then
      later[#later + 1] = text(due)
      later[#later + 1] = id
      first_due = math.min(first_due or due, due)
    else
      ready[#ready + 1] = text(next_score(order, priority, group, weight))
      ready[#ready + 1] = id
    end
  end
end

if #new > 0 then call('HSET', P .. 'tasks', unpack(new)) end
if large then call('HSET', P .. 'settings', 'large', '1') end
if #ready > 0 then
  order_save(order)
  call('ZADD', P .. 'ready', unpack(ready))
  wake(P)
end
if #later > 0 then
  local head = call('ZRANGE', P .. 'scheduled', 0, 0, 'WITHSCORES')
  call('ZADD', P .. 'scheduled', unpack(later))
  if not head[2] or first_due < tonumber(head[2]) then announce_due(P, first_due) end
end
return result
