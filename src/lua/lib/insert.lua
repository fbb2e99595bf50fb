-- Enqueues a task that a script creates, such as that of a recurring entry. o: its options; rest: its envelope behind
-- '{"at":<now>,'. Returns false if a task has the id. If Redis refuses a command, the task does not exist
-- (lib/insert_plain.lua).
--
-- requires: base, event, index, insert_plain, schedule
-- gives: insert_task

local function place_task(P, id, o, now, deadline)
  if deadline then
    call('ZADD', P .. 'deadlines', text(deadline), id)
    announce_due(P, deadline)
  end
  if o.tags then index_tags(P, id, o.tags, now) end
  local due = o.at or o['in'] and now + o['in']
  if due and due > now then
    schedule(P, id, due)
    tell(P, 'scheduled', id, 'due', text(due))
  else
    place_ready(P, id, o)
  end
end

local function insert_task(P, id, o, rest, now)
  local deadline = o.deadline or o.expires and now + o.expires
  if deadline then deadline = max(0, min(deadline, LATEST)) end
  local head = '{"at":' .. text(now) .. (deadline and ',"deadline":' .. text(deadline) or '') .. ','
  return insert_envelope(P, id, head, rest, place_task, o, now, deadline)
end
