-- A task went without a record, and not because of the queue's retention: its handler discarded it, or somebody deleted
-- it. Until a little later a call of `enqueue` that is sent again cannot know whether the task had come
-- (lib/proof.lua).
--
-- requires: base
-- gives: note_unrecorded

local function note_unrecorded(P, now)
  redis.pcall('HSET', P .. 'counters', 'unrecorded', text(now))
end
