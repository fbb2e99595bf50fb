-- Records the time when a task last went without a record for another reason than the retention of the queue: its
-- handler discarded it, somebody deleted it, or its own retention ended (`keep`). A call of enqueue.lua that is
-- repeated after that time cannot know whether the task had been enqueued (lib/proof.lua).
--
-- requires: base
-- gives: note_unrecorded

-- now: ms; or when the task had ended, if that is known and later than what was recorded before.
local function note_unrecorded(P, now)
  redis.pcall('HSET', P .. 'counters', 'unrecorded', text(now))
end
