-- A task that a script makes. o: its options; rest: its envelope behind '{"at":<now>,'. False: there is a task with this id.
--
-- requires: base, event, index, ready_last, schedule, wake_one
-- gives: insert_task

local function insert_task(P, id, o, rest, now)
  local tags = o.tags
  if tags then
-- require: tags_once
    tags, rest = tags_once(tags, rest)
  end
  local deadline = o.deadline or o.expires and now + o.expires
  if deadline then deadline = max(0, min(deadline, LATEST)) end
  local stamp = '{"at":' .. text(now) .. (deadline and ',"deadline":' .. text(deadline) or '') .. ','
  if call('HSETNX', P .. 'tasks', id, stamp .. rest) == 0 then return false end
  if deadline then
    call('ZADD', P .. 'deadlines', text(deadline), id)
    announce_due(P, deadline)
  end
  if tags then index_tags(P, id, tags, now) end
  if #rest > LARGE then call('HSET', P .. 'settings', 'large', '1') end
  local due = o.at or o['in'] and now + o['in']
  if due and due > now then
    schedule(P, id, due)
    tell(P, 'scheduled', id, 'due', text(due))
  else
    enter_ready_last(P, id, o)
    tell(P, 'enqueued', id)
    wake_one(P)
  end
  return true
end
