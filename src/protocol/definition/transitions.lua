-- The allowed transitions of a task. Nothing else moves a task from one state to another: the randomised test compares each
-- call with this table, and makes each of these transitions at least once.
--   from, to  states.lua; none: there is no such task
--   by        the scripts that do it
--   rarely    scripts that may do it, too, in cases that the randomised test does not always meet
--   drawn     the words of this arrow in docs/architecture.md; absent: it is not drawn
--   help      when
return {
  {from = 'none', to = 'ready', by = {'enqueue', 'fire', 'turn', 'maintain', 'deliver'}, rarely = {'depend', 'fan'},
    drawn = 'enqueue', help = 'it is enqueued: by a client, a recurring entry, a handler (a chained task), or for the death of another task (`on_dead`)'},
  {from = 'none', to = 'scheduled', by = {'enqueue', 'turn'}, drawn = 'enqueue --in, --at', help = 'it is enqueued for a later time'},
  {from = 'none', to = 'blocked', by = {'enqueue'}, drawn = 'enqueue --after', help = 'it is enqueued with parents that have not ended'},

  {from = 'blocked', to = 'ready', by = {'turn', 'maintain', 'deliver', 'depend', 'enqueue'}, rarely = {'fan'},
    drawn = 'the parents ended', help = 'its last parent ended, or the edge to it was removed'},
  {from = 'blocked', to = 'scheduled', by = {'turn', 'deliver', 'depend', 'enqueue'}, rarely = {'maintain', 'fan'},
    help = 'the same, of a task that was enqueued for a later time'},
  {from = 'blocked', to = 'dead', by = {'maintain', 'deliver', 'enqueue'}, rarely = {'depend', 'fan'},
    drawn = 'a parent died', help = 'a parent died, was cancelled or is unknown, and its policy is to fail; or its deadline passed'},

  {from = 'scheduled', to = 'ready', by = {'maintain', 'reschedule', 'retry'}, rarely = {'bulk_update'}, drawn = 'its time came', help = 'its time came, or it was retried or rescheduled by hand'},
  {from = 'scheduled', to = 'blocked', by = {'depend'}, help = 'it was given parents'},
  {from = 'ready', to = 'blocked', by = {'depend'}, help = 'the same'},
  {from = 'parked', to = 'blocked', by = {}, rarely = {'depend'}, help = 'the same'},
  {from = 'ready', to = 'scheduled', by = {'reschedule', 'turn'}, rarely = {'bulk_update', 'maintain'}, help = 'it was rescheduled by hand; it had crashed twice, while its session held another such task; or it is malformed, and `maintain` buries it'},
  {from = 'parked', to = 'scheduled', by = {}, rarely = {'reschedule', 'bulk_update', 'turn', 'maintain', 'end_session'}, help = 'the same'},
  {from = 'ready', to = 'parked', by = {'turn'}, drawn = 'its group is paused or at a limit', help = 'a turn found its group paused or at a limit'},
  {from = 'parked', to = 'ready', by = {'turn', 'maintain', 'reschedule'}, rarely = {'end_session', 'bulk_update'}, drawn = 'the group has room', help = 'its group has room again; or its priority was changed'},
  {from = 'ready', to = 'running', by = {'turn', 'enqueue'}, drawn = 'lease', help = 'a thread leased it; or `enqueue` handed it over to an idle thread'},
  {from = 'parked', to = 'running', by = {'turn'}, help = 'a thread leased it as soon as its group had room'},

  {from = 'running', to = 'completed', by = {'turn'}, drawn = 'done', help = 'the attempt completed'},
  {from = 'running', to = 'retained', by = {'turn'}, help = 'the same, in a queue that keeps no completed tasks; children may read the result'},
  {from = 'running', to = 'scheduled', by = {'turn'}, rarely = {'end_session', 'maintain'}, drawn = 'failed, another attempt to go; snoozed', help = 'the attempt failed, and another one follows; the task was snoozed; or it is malformed, and `maintain` buries it'},
  {from = 'running', to = 'ready', by = {'turn', 'end_session', 'maintain'}, drawn = 'given back, or the worker died', help = 'its session gave it back, ended, or was reaped'},
  {from = 'running', to = 'dead', by = {'turn'}, drawn = 'failed for the last time', help = 'it failed for good, failed or crashed too often, or is malformed'},
  {from = 'running', to = 'cancelled', by = {'turn', 'end_session', 'maintain'}, drawn = 'cancelled while it ran', help = 'it was cancelled while it ran, and did not complete'},

  {from = 'ready', to = 'dead', by = {'maintain'}, rarely = {'depend'}, drawn = 'deadline passed', help = 'its deadline passed, it is malformed, or it was given a parent that has died'},
  {from = 'scheduled', to = 'dead', by = {'maintain'}, rarely = {'depend'}, drawn = 'deadline passed', help = 'the same'},
  {from = 'parked', to = 'dead', by = {'maintain'}, rarely = {'depend'}, help = 'the same'},
  {from = 'ready', to = 'cancelled', by = {'cancel', 'bulk_update'}, drawn = 'cancel', help = 'it was cancelled'},
  {from = 'scheduled', to = 'cancelled', by = {'cancel'}, rarely = {'bulk_update'}, drawn = 'cancel', help = 'the same'},
  {from = 'parked', to = 'cancelled', by = {'cancel'}, rarely = {'bulk_update'}, help = 'the same'},
  {from = 'blocked', to = 'cancelled', by = {'cancel', 'fan', 'maintain'}, rarely = {'bulk_update', 'deliver'}, drawn = 'cancel', help = 'it was cancelled, or a parent was, with its children'},

  {from = 'dead', to = 'ready', by = {'retry', 'bulk_update'}, drawn = 'retry', help = 'it was retried by hand'},
  {from = 'cancelled', to = 'ready', by = {'retry', 'bulk_update'}, drawn = 'retry', help = 'the same'},
  {from = 'dead', to = 'blocked', by = {'retry'}, rarely = {'bulk_update'}, help = 'it was retried by hand, and waits again for parents that have not completed'},
  {from = 'cancelled', to = 'blocked', by = {}, rarely = {'retry', 'bulk_update'}, help = 'the same'},
  {from = 'completed', to = 'retained', by = {'maintain'}, rarely = {'turn'}, help = 'it is past its retention, and children may read its result'},

  {from = 'completed', to = 'none', by = {'turn', 'maintain', 'delete', 'bulk_update'}, drawn = 'past its retention', help = 'it is past its retention, or was deleted'},
  {from = 'retained', to = 'none', by = {'turn', 'maintain', 'delete', 'link'}, rarely = {'deliver', 'cancel', 'depend', 'enqueue', 'fan', 'end_session', 'bulk_update'}, help = 'its last reader ended, or it was deleted'},
  {from = 'dead', to = 'none', by = {'turn', 'maintain', 'delete'}, rarely = {'bulk_update', 'deliver', 'depend', 'enqueue', 'fan'}, drawn = 'past its retention', help = 'it is past its retention, or was deleted'},
  {from = 'cancelled', to = 'none', by = {'cancel', 'maintain', 'delete'}, rarely = {'bulk_update', 'turn', 'end_session', 'fan'}, drawn = 'past its retention', help = 'the same'},
  {from = 'running', to = 'none', by = {'turn', 'maintain'}, rarely = {'end_session'}, help = 'it ended in a queue that keeps no such tasks'},
  {from = 'blocked', to = 'none', by = {'turn', 'maintain', 'cancel', 'delete', 'deliver', 'depend', 'enqueue', 'bulk_update'}, rarely = {'fan'},
    help = 'it was deleted or replaced, or it ended in a queue that keeps no such tasks, or it waited for a death that cannot come'},
  {from = 'ready', to = 'none', by = {'enqueue', 'cancel', 'delete', 'bulk_update', 'maintain'}, rarely = {'depend'}, help = 'it was deleted or replaced, or it ended in a queue that keeps no such tasks'},
  {from = 'scheduled', to = 'none', by = {'enqueue', 'cancel', 'delete', 'bulk_update', 'maintain'}, rarely = {'depend'}, help = 'the same'},
  {from = 'parked', to = 'none', by = {'delete'}, rarely = {'maintain', 'enqueue', 'cancel', 'bulk_update', 'depend'}, help = 'the same'},
}
