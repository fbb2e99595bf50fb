#!lua flags=allow-oom
-- link: a child in another queue waits for a task of this one, or does not any more, or does not read its record any
-- more (lib/readers.lua). A message of that queue's outbox (outbox.lua), carried here.
--
-- KEYS[1]  the queue's prefix
-- ARGV[1]  "register", "unregister" or "release"
-- ARGV[2]  the parent's id
-- ARGV[3]  the child's handle
-- ARGV[4]  register: the edge's policy, and what holds for a parent that is not known (lib/dependency_register.lua);
--          release: the number of the message that registered the edge: what a later one registered stays
-- ARGV[5]  the message's number
-- ARGV[6]  the lowest number that the child's queue had in its outbox when this was fetched, or "" when that is not
--          known
-- reply    "" when the child is told later; or how the parent has ended, to be delivered to the child
--
-- Sent twice: it registers once, however late the second comes (lib/received.lua), and says the same again: whoever
-- heard it may have died before the child was told, and the parent may have come, been retried or gone since. A child
-- does not lose an edge that was made after the message that takes it away, however late that comes.
-- require: base, foreign_key, sequence, schedule, event, history, retention, unique, dependency_edges, received
-- require: dependency_register

local P, id, child, number = KEYS[1], ARGV[2], ARGV[3], nil
do
-- require: whole
  number = whole(ARGV[5], 0, LATEST)
  local known = ARGV[1] == 'unregister' or ARGV[1] == 'register' and find(ARGV[4] or '', '^[fgwx][gerd]?$') or
    ARGV[1] == 'release' and whole(ARGV[4], 0, LATEST)
  if not known or not number or not find(child or '', '^[%w._~-]+/[%w._:-]+$') or
    (ARGV[6] or '') ~= '' and not whole(ARGV[6], 0, LATEST) then
    return redis.error_reply('ERR @NAME@: it takes "register", "unregister" or "release", a parent, a child, a policy or ' ..
      'number, and numbers')
  end
-- require: expect, messages, readers, reads
  local fault = unfit(P)
  if fault then return fault end
end
local source = parts(child)
local again = was_received(P, source, ARGV[5])
-- The child is not told any more, unless a later message registered it.
local function forget_child()
  if call('SISMEMBER', P .. 'linked', id) == 0 then return end
  for _, set in ipairs({'children:', 'awaiting_retry:'}) do
    local since = call('ZSCORE', P .. set .. id, child)
    if since and tonumber(since) <= number then call('ZREM', P .. set .. id, child) end
  end
  if call('EXISTS', P .. 'children:' .. id, P .. 'awaiting_retry:' .. id) == 0 then call('SREM', P .. 'linked', id) end
end

-- What was answered when the message came first. (Below the floor the child has heard it.)
local ANSWERS = {'completed', 'dead', 'cancelled', 'unknown', 'gone'}
local function first_answer()
  local members = {}
  for i, word in ipairs(ANSWERS) do members[i] = ARGV[5] .. ' ' .. word end
  local scores = call('ZMSCORE', P .. 'received:' .. source, unpack(members))
  for i, word in ipairs(ANSWERS) do
    if scores[i] then return word end
  end
  return ''
end

-- Messages that were set aside come behind later ones: one that took the edge away is known as long as an earlier one
-- may come.
local undoing = 'U ' .. child .. ' ' .. id
local function is_undone()
  local undone = tonumber(call('ZSCORE', P .. 'received:' .. source, undoing))
  return undone and undone > number
end

-- Who stands now where this task stood, which is not there any more: an id, or the handle of a task that was moved;
-- false: that is not known. Where a place is taken faster than messages go, the child does not hear of each.
local REPLACEMENTS_IN_A_ROW = 1000
local function replacement_of(task)
  local replacement = call('GET', P .. 'replaced_by:' .. task)
  for _ = 1, REPLACEMENTS_IN_A_ROW do
    local is_here = replacement and not find(replacement, '/', 1, true)
    local later = is_here and call('HEXISTS', P .. 'tasks', replacement) == 0 and call('GET', P .. 'replaced_by:' .. replacement)
    if not later then break end
    replacement = later
  end
  return replacement
end

if ARGV[1] == 'register' then
  if again then return first_answer() end
  if is_undone() then
    note_received(P, source, ARGV[5], ARGV[6])
    return ''
  end
  local states = {}
  -- Another task has taken its place since the child was last told: it is told again, of the edge that it has now.
  local replacement = state_of(P, id, states) == 'unknown' and replacement_of(id)
  -- No task waits for itself: this one has the id of a task that was moved to its queue, and is gone.
  if replacement and replacement ~= child then
    note_received(P, source, ARGV[5], ARGV[6])
    send(P, 'M', child .. ' ' .. own_queue(P) .. '/' .. id .. ' ' .. text(number) .. ' ' .. replacement)
    announce_due(P, clock())
    return ''
  end
  local ended = how_ended(P, id, ARGV[4], states, clock())
  note_received(P, source, ARGV[5], ARGV[6], ended)
  if ended then
    forget_child()
    if states[id] == 'completed' then readers.add(P, id, {ARGV[5], child}) end
    return ended
  end
  register(P, id, child, ARGV[4], text(number), true)
  return ''
end
if again then return '' end
note_received(P, source, ARGV[5], ARGV[6])
if ARGV[1] == 'unregister' then
  call('ZADD', P .. 'received:' .. source, 'GT', ARGV[5], undoing)
  forget_child()
  return ''
end
local known = tonumber(call('ZSCORE', P .. 'readers:' .. id, child))
if known and known <= (tonumber(ARGV[4]) or 0) then
  call('ZREM', P .. 'readers:' .. id, child)
  readers.let_go(P, id)
end
return ''
