-- The events of the stream `events`: one for each transition, of one task or of several.
--   to   the states that the task can be in after it; absent: it need not change its state
return {
  {name = 'enqueued', to = {'ready'}, help = 'a new task is ready'},
  {name = 'scheduled', to = {'scheduled'}, help = 'a new task waits for its time, or a task was put off; `due`'},
  {name = 'blocked', to = {'blocked'}, help = 'the task waits for its parents'},
  {name = 'unblocked', to = {'ready', 'scheduled'}, help = 'the last parent ended; `due` when it is scheduled then'},
  {name = 'ready', to = {'ready'}, help = 'its time came, or its group has room'},
  {name = 'parked', to = {'parked'}, help = 'its group is paused or at a limit'},
  {name = 'leased', to = {'running'}, help = 'a thread leased it; `thread`'},
  {name = 'completed', to = {'completed', 'retained'}, help = 'an attempt completed it'},
  {name = 'retry', to = {'scheduled'}, help = 'an attempt failed, another one follows; `delay`, `kind`, `message`'},
  {name = 'dead', to = {'dead'}, help = 'it is dead; `kind`, `message`'},
  {name = 'snoozed', to = {'scheduled'}, help = 'it was snoozed; `delay`'},
  {name = 'given_back', to = {'ready'}, help = 'its session gave it back'},
  {name = 'recovered', to = {'ready'}, help = 'its session died, and it is ready again'},
  {name = 'cancelling', help = 'it runs, and its handler is told to stop'},
  {name = 'cancelled', to = {'cancelled'}, help = 'it was cancelled'},
  {name = 'deleted', help = 'it was removed by hand, or replaced by another task'},
  {name = 'retried', to = {'ready'}, help = 'it was retried by hand; `blocked` follows where it waits for parents again'},
  {name = 'rescheduled', to = {'ready', 'scheduled'}, help = 'its time was changed; `due`'},
  {name = 'priority', to = {'ready'}, help = 'its priority was changed; `priority`'},
}
