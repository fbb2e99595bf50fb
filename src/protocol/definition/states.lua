-- The states of a task. The key that contains a task's id is its state.
--   name
--   key     where the id is, as in keys.lua
--   shown   the state that users see; absent: name
--   ended   true: it does not run any more, but for a retry by hand
return {
  {name = 'blocked', key = 'blocked', help = 'it waits for other tasks, its parents'},
  {name = 'scheduled', key = 'scheduled', help = 'it waits for its time: it was enqueued for later, snoozed, or waits for its next attempt'},
  {name = 'ready', key = 'ready', help = 'a thread can lease it'},
  {name = 'parked', key = 'parked', help = 'it waits for its group, which is at a limit or held'},
  {name = 'running', key = 'running:<session>', help = 'a session holds its lease; `lost:<session>` while a dead session is reaped'},
  {name = 'completed', key = 'completed', ended = true, help = 'its handler completed it'},
  {name = 'dead', key = 'dead', ended = true, help = 'it failed or crashed too often, expired, or was buried with a parent'},
  {name = 'cancelled', key = 'cancelled', ended = true, help = 'somebody cancelled it'},
  {name = 'retained', key = 'retained', shown = 'completed', ended = true, help = 'completed and past its retention, but kept for its children, which may read its result'},
}
