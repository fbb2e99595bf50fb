-- Records the time when a task last went without a record for another reason than the retention of the queue: its
-- handler discarded it, or somebody deleted it. A call of enqueue.lua that is repeated after that time cannot know
-- whether the task had been enqueued (lib/proof.lua).
--
-- requires: base
-- gives: note_unrecorded

local function note_unrecorded(P, now)
  redis.pcall('HSET', P .. 'counters', 'unrecorded', text(now))
end
