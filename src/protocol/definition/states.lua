-- The states of a task. The key that contains a task's id is its state.
--   name
--   key     where the id is, as in keys.lua
--   rank    of a key that is a sorted set: the order in which scripts look for a task, likely states first
--   shown   the state that users see; absent: name
--   ended   true: it does not run any more, but for a retry by hand
--   retried true: a retry makes the task ready
--   title   of the column in which `reeve list` shows its time: ENQUEUED, DUE, STARTED or how it ended; not where `shown` is set
--   column  its place among the columns of `reeve queues`; not where `shown` is set
return {
  {name = 'blocked', key = 'blocked', rank = 4, column = 3, title = 'ENQUEUED', help = 'it waits for other tasks, its parents'},
  {name = 'scheduled', key = 'scheduled', rank = 2, retried = true, column = 2, title = 'DUE', help = 'it waits for its time: it was enqueued for later, snoozed, or waits for its next attempt'},
  {name = 'ready', key = 'ready', rank = 1, column = 1, title = 'ENQUEUED', help = 'it can run and waits for a thread. It stays ready while its queue is paused or at a limit'},
  {name = 'parked', key = 'parked', rank = 3, column = 4, title = 'ENQUEUED', help = 'it waits for its group, which is paused or at a limit, or for its type, which is at a limit'},
  {name = 'running', key = 'running:<session>', column = 5, title = 'STARTED', help = 'a thread runs it or is about to: a session holds its lease'},
  {name = 'completed', key = 'completed', rank = 5, ended = true, retried = true, column = 6, title = 'COMPLETED', help = 'its handler completed it'},
  {name = 'dead', key = 'dead', rank = 6, ended = true, retried = true, column = 7, title = 'DIED', help = 'it failed or crashed too often, expired, or died because of a parent'},
  {name = 'cancelled', key = 'cancelled', rank = 7, ended = true, retried = true, column = 8, title = 'CANCELLED', help = 'a cancel stopped it'},
  {name = 'retained', key = 'retained', rank = 8, shown = 'completed', ended = true, help = 'completed and past the retention of its queue, but kept because its children may read its result, or for its own time (`keep`)'},
}
