-- The states of a task. The key that contains a task's id is its state.
--   name
--   key     where the id is, as in keys.lua
--   rank    of a key that is a sorted set: the order in which scripts look for a task, likely states first
--   shown   the state that users see; absent: name
--   ended   true: it does not run any more, but for a retry by hand
return {
  {name = 'blocked', key = 'blocked', rank = 4, help = 'it waits for other tasks, its parents'},
  {name = 'scheduled', key = 'scheduled', rank = 2, help = 'it waits for its time: it was enqueued for later, snoozed, or waits for its next attempt'},
  {name = 'ready', key = 'ready', rank = 1, help = 'it waits for a thread, and for the limits or a pause of its queue'},
  {name = 'parked', key = 'parked', rank = 3, help = 'it waits for its group, which is paused or at a limit'},
  {name = 'running', key = 'running:<session>', help = 'a session holds its lease; `lost:<session>` while a dead session is reaped'},
  {name = 'completed', key = 'completed', rank = 5, ended = true, help = 'its handler completed it'},
  {name = 'dead', key = 'dead', rank = 6, ended = true, help = 'it failed or crashed too often, expired, or was buried with a parent'},
  {name = 'cancelled', key = 'cancelled', rank = 7, ended = true, help = 'somebody cancelled it'},
  {name = 'retained', key = 'retained', rank = 8, shown = 'completed', ended = true, help = 'completed and past its retention, but kept for its children, which may read its result'},
}
