-- The allowed transitions of a task. Nothing else moves a task from one state to another: the randomised test compares each
-- call with this table, and makes each of these transitions at least once.
--   from, to  states.lua; none: there is no such task
--   by        the scripts that do it
--   rarely    scripts that may do it, too, in cases that the randomised test does not always meet
--   drawn     the words of this arrow in docs/architecture.md; absent: it is not drawn
--   help      when
return {
  {from = 'none', to = 'ready', by = {'enqueue', 'fire', 'turn', 'tend', 'deliver'}, rarely = {'depend', 'fan'},
    drawn = 'enqueue', help = 'it is enqueued: by a client, a recurring entry, a handler (a chained task), or for the death of another task (`on_dead`)'},
  {from = 'none', to = 'scheduled', by = {'enqueue', 'turn'}, drawn = 'enqueue --in, --at', help = 'it is enqueued for a later time'},
  {from = 'none', to = 'blocked', by = {'enqueue'}, drawn = 'enqueue --after', help = 'it is enqueued with parents that have not ended'},

  {from = 'blocked', to = 'ready', by = {'turn', 'tend', 'deliver', 'depend', 'enqueue'}, rarely = {'fan'},
    drawn = 'the parents ended', help = 'its last parent ended, or the edge to it was removed'},
  {from = 'blocked', to = 'scheduled', by = {'turn', 'deliver', 'depend', 'enqueue'}, rarely = {'tend', 'fan'},
    help = 'the same, of a task that was enqueued for a later time'},
  {from = 'blocked', to = 'dead', by = {'tend', 'deliver', 'enqueue'}, rarely = {'depend', 'fan'},
    drawn = 'a parent died', help = 'a parent died, was cancelled or is unknown, and its policy is to fail; or its deadline passed'},

  {from = 'scheduled', to = 'ready', by = {'tend', 'move', 'retry'}, rarely = {'sweep'}, drawn = 'its time came', help = 'its time came, or it was retried or rescheduled by hand'},
  {from = 'scheduled', to = 'blocked', by = {'depend'}, help = 'it was given parents'},
  {from = 'ready', to = 'blocked', by = {'depend'}, help = 'the same'},
  {from = 'parked', to = 'blocked', by = {}, rarely = {'depend'}, help = 'the same'},
  {from = 'ready', to = 'scheduled', by = {'move', 'turn'}, rarely = {'sweep', 'tend'}, help = 'it was rescheduled by hand; it had crashed twice, while its session held another such task; or it is malformed, and `tend` buries it'},
  {from = 'parked', to = 'scheduled', by = {}, rarely = {'move', 'sweep', 'turn', 'tend', 'leave'}, help = 'the same'},
  {from = 'ready', to = 'parked', by = {'turn'}, drawn = 'its group is at its limit', help = 'a turn found its group at a limit'},
  {from = 'parked', to = 'ready', by = {'turn', 'tend', 'move'}, rarely = {'leave', 'sweep'}, drawn = 'the group has room', help = 'its group has room again; or its priority was changed'},
  {from = 'ready', to = 'running', by = {'turn', 'enqueue'}, drawn = 'lease', help = 'a thread leased it; or `enqueue` handed it over to an idle thread'},
  {from = 'parked', to = 'running', by = {'turn'}, help = 'a thread leased it as soon as its group had room'},

  {from = 'running', to = 'completed', by = {'turn'}, drawn = 'done', help = 'the attempt completed'},
  {from = 'running', to = 'retained', by = {'turn'}, help = 'the same, in a queue that keeps no completed tasks; children may read the result'},
  {from = 'running', to = 'scheduled', by = {'turn'}, rarely = {'leave', 'tend'}, drawn = 'failed, another attempt to go; snoozed', help = 'the attempt failed, and another one follows; the task was snoozed; or it is malformed, and `tend` buries it'},
  {from = 'running', to = 'ready', by = {'turn', 'leave', 'tend'}, drawn = 'given back, or the worker died', help = 'its session gave it back, ended, or was reaped'},
  {from = 'running', to = 'dead', by = {'turn'}, drawn = 'failed for the last time', help = 'it failed for good, failed or crashed too often, or is malformed'},
  {from = 'running', to = 'cancelled', by = {'turn', 'leave', 'tend'}, drawn = 'cancelled while it ran', help = 'it was cancelled while it ran, and did not complete'},

  {from = 'ready', to = 'dead', by = {'tend'}, rarely = {'depend'}, drawn = 'deadline passed', help = 'its deadline passed, it is malformed, or it was given a parent that has died'},
  {from = 'scheduled', to = 'dead', by = {'tend'}, rarely = {'depend'}, drawn = 'deadline passed', help = 'the same'},
  {from = 'parked', to = 'dead', by = {'tend'}, rarely = {'depend'}, help = 'the same'},
  {from = 'ready', to = 'cancelled', by = {'cancel', 'sweep'}, drawn = 'cancel', help = 'it was cancelled'},
  {from = 'scheduled', to = 'cancelled', by = {'cancel'}, rarely = {'sweep'}, drawn = 'cancel', help = 'the same'},
  {from = 'parked', to = 'cancelled', by = {'cancel'}, rarely = {'sweep'}, help = 'the same'},
  {from = 'blocked', to = 'cancelled', by = {'cancel', 'fan', 'tend'}, rarely = {'sweep', 'deliver'}, drawn = 'cancel', help = 'it was cancelled, or a parent was, with its children'},

  {from = 'dead', to = 'ready', by = {'retry', 'sweep'}, drawn = 'retry', help = 'it was retried by hand'},
  {from = 'cancelled', to = 'ready', by = {'retry', 'sweep'}, drawn = 'retry', help = 'the same'},
  {from = 'dead', to = 'blocked', by = {'retry'}, rarely = {'sweep'}, help = 'it was retried by hand, and waits again for parents that have not completed'},
  {from = 'cancelled', to = 'blocked', by = {}, rarely = {'retry', 'sweep'}, help = 'the same'},
  {from = 'completed', to = 'retained', by = {'tend'}, rarely = {'turn'}, help = 'it is past its retention, and children may read its result'},

  {from = 'completed', to = 'none', by = {'turn', 'tend', 'delete', 'sweep'}, drawn = 'past its retention', help = 'it is past its retention, or was deleted'},
  {from = 'retained', to = 'none', by = {'turn', 'tend', 'delete', 'link'}, rarely = {'deliver', 'cancel', 'depend', 'enqueue', 'fan', 'leave', 'sweep'}, help = 'its last reader ended, or it was deleted'},
  {from = 'dead', to = 'none', by = {'turn', 'tend', 'delete'}, rarely = {'sweep', 'deliver', 'depend', 'enqueue', 'fan'}, drawn = 'past its retention', help = 'it is past its retention, or was deleted'},
  {from = 'cancelled', to = 'none', by = {'cancel', 'tend', 'delete'}, rarely = {'sweep', 'turn', 'leave', 'fan'}, drawn = 'past its retention', help = 'the same'},
  {from = 'running', to = 'none', by = {'turn', 'tend'}, rarely = {'leave'}, help = 'it ended in a queue that keeps no such tasks'},
  {from = 'blocked', to = 'none', by = {'turn', 'tend', 'cancel', 'delete', 'deliver', 'depend', 'enqueue', 'sweep'}, rarely = {'fan'},
    help = 'it was deleted or replaced, or it ended in a queue that keeps no such tasks, or it waited for a death that cannot come'},
  {from = 'ready', to = 'none', by = {'enqueue', 'cancel', 'delete', 'sweep', 'tend'}, rarely = {'depend'}, help = 'it was deleted or replaced, or it ended in a queue that keeps no such tasks'},
  {from = 'scheduled', to = 'none', by = {'enqueue', 'cancel', 'delete', 'sweep', 'tend'}, rarely = {'depend'}, help = 'the same'},
  {from = 'parked', to = 'none', by = {'delete'}, rarely = {'tend', 'enqueue', 'cancel', 'sweep', 'depend'}, help = 'the same'},
}
