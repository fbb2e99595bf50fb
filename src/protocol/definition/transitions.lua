-- The allowed transitions of a task. Nothing else moves a task from one state to another: the randomised test compares each
-- call with this table, and makes each of these transitions at least once.
--   from, to  states.lua; none: there is no such task
--   by        the scripts that do it
--   rarely    scripts that may do it, too, in cases that the randomised test does not always meet
--   drawn     the words of this arrow in docs/architecture.md; absent: it is not drawn
--   help      when
return {
  {from = 'none', to = 'ready', by = {'enqueue', 'fire', 'turn', 'maintain', 'deliver'}, rarely = {'depend', 'fan', 'fail', 'arrive', 'block'},
    drawn = 'enqueue', help = 'it is enqueued: by a client, a recurring entry, a handler (a chained task), for the death of another task (`on_dead`), or moved from another queue'},
  {from = 'none', to = 'scheduled', by = {'enqueue', 'turn'}, rarely = {'arrive', 'block'}, drawn = 'enqueue --in, --at', help = 'it is enqueued for a later time'},
  {from = 'none', to = 'blocked', by = {'enqueue'}, rarely = {'arrive'}, drawn = 'enqueue --after', help = 'it is enqueued with parents that have not ended'},

  {from = 'blocked', to = 'ready', by = {'turn', 'deliver', 'depend', 'signal', 'enqueue', 'fan'}, rarely = {'block', 'arrive'},
    drawn = 'the parents ended', help = 'its last parent ended, or the edge to it was removed'},
  {from = 'blocked', to = 'scheduled', by = {'turn', 'deliver', 'depend', 'enqueue'}, rarely = {'block', 'signal', 'fan'},
    help = 'the same, of a task that was enqueued for a later time'},
  {from = 'blocked', to = 'dead', by = {'maintain', 'deliver', 'enqueue', 'fan', 'fail'}, rarely = {'block', 'depend', 'arrive'},
    drawn = 'a parent died', help = 'a parent died, was cancelled or is unknown, and its rule for that parent is `fail`; or its deadline passed, or it was failed by hand'},
  {from = 'blocked', to = 'running', by = {}, rarely = {'lease_task'}, help = 'it is for one worker alone (`reeve_broadcast`), which leased it'},

  {from = 'scheduled', to = 'ready', by = {'maintain', 'reschedule', 'retry'}, rarely = {'bulk_update'}, drawn = 'its time came', help = 'its time came, or it was retried or rescheduled by hand'},
  {from = 'scheduled', to = 'blocked', by = {'depend'}, help = 'it was given parents'},
  {from = 'ready', to = 'blocked', by = {'depend'}, help = 'the same'},
  {from = 'parked', to = 'blocked', by = {}, rarely = {'depend'}, help = 'the same'},
  {from = 'ready', to = 'scheduled', by = {'reschedule', 'turn'}, rarely = {'edit', 'bulk_update', 'maintain'}, help = 'it was rescheduled by hand; it had crashed twice, while its session held another such task; or it is malformed, and `maintain` will set it to dead'},
  {from = 'parked', to = 'scheduled', by = {}, rarely = {'block', 'edit', 'reschedule', 'bulk_update', 'turn', 'maintain', 'end_session', 'reap', 'expire', 'fail', 'move'}, help = 'the same'},
  {from = 'ready', to = 'parked', by = {'turn'}, drawn = 'its group is paused or at a limit, or its type is at a limit', help = 'a turn found its group paused or at a limit, or its type at a limit'},
  {from = 'parked', to = 'ready', by = {'turn', 'maintain', 'reschedule'}, rarely = {'block', 'edit', 'end_session', 'bulk_update', 'reap', 'expire', 'fail', 'move'}, drawn = 'its group or type has room', help = 'its group or type has room again; or its priority was changed'},
  {from = 'ready', to = 'running', by = {'turn', 'enqueue', 'lease_task'}, drawn = 'lease', help = 'a thread leased it; or `enqueue` handed it over to an idle thread'},
  {from = 'parked', to = 'running', by = {'turn'}, help = 'a thread leased it as soon as its group or type had room'},

  {from = 'running', to = 'completed', by = {'turn'}, drawn = 'done', help = 'the attempt completed'},
  {from = 'running', to = 'retained', by = {'turn'}, help = 'the same, in a queue that keeps no completed tasks; children may read the result, or it is kept for its own time'},
  {from = 'running', to = 'scheduled', by = {'turn'}, rarely = {'end_session', 'reap', 'expire'}, drawn = 'failed, another attempt to go; snoozed', help = 'the attempt failed, and another one follows; the task was snoozed; or it is malformed, and `maintain` will set it to dead'},
  {from = 'running', to = 'blocked', by = {'block'}, drawn = 'waits for other tasks', help = 'its handler waits for other tasks, such as those that it has just enqueued'},
  {from = 'running', to = 'ready', by = {'turn', 'end_session', 'reap', 'expire', 'edit', 'move'}, drawn = 'given back, or the worker died', help = 'its session gave it back, ended, or was reaped; or its lease was ended by hand, by itself or with a change of the task'},
  {from = 'running', to = 'dead', by = {'turn', 'fail'}, rarely = {'block'}, drawn = 'failed for the last time', help = 'it failed for good, failed or crashed too often, is malformed, or was failed by hand'},
  {from = 'running', to = 'cancelled', by = {'turn', 'end_session', 'reap', 'expire'}, rarely = {'block'}, drawn = 'cancelled while it ran', help = 'it was cancelled while it ran, and did not complete'},

  {from = 'ready', to = 'dead', by = {'maintain', 'fail'}, rarely = {'depend'}, drawn = 'deadline passed', help = 'its deadline passed, it is malformed, it was given a parent that has died, or it was failed by hand'},
  {from = 'scheduled', to = 'dead', by = {'maintain', 'fail'}, rarely = {'depend'}, drawn = 'deadline passed', help = 'the same'},
  {from = 'parked', to = 'dead', by = {'maintain'}, rarely = {'depend', 'fail'}, help = 'the same'},
  {from = 'ready', to = 'cancelled', by = {'cancel', 'bulk_update'}, drawn = 'cancel', help = 'it was cancelled'},
  {from = 'scheduled', to = 'cancelled', by = {'cancel'}, rarely = {'bulk_update'}, drawn = 'cancel', help = 'the same'},
  {from = 'parked', to = 'cancelled', by = {'cancel'}, rarely = {'bulk_update'}, help = 'the same'},
  {from = 'blocked', to = 'cancelled', by = {'cancel', 'fan'}, rarely = {'bulk_update', 'deliver'}, drawn = 'cancel', help = 'it was cancelled, or a parent was, with its children'},

  {from = 'dead', to = 'ready', by = {'retry', 'bulk_update'}, drawn = 'retry', help = 'it was retried by hand'},
  {from = 'cancelled', to = 'ready', by = {'retry', 'bulk_update'}, drawn = 'retry', help = 'the same'},
  {from = 'dead', to = 'blocked', by = {'retry'}, rarely = {'bulk_update'}, help = 'it was retried by hand, and waits again for parents that have not completed'},
  {from = 'cancelled', to = 'blocked', by = {}, rarely = {'retry', 'bulk_update'}, help = 'the same'},
  {from = 'completed', to = 'ready', by = {'retry'}, rarely = {'bulk_update'}, help = 'it was retried by hand, to run again'},
  {from = 'completed', to = 'blocked', by = {}, rarely = {'retry', 'bulk_update'}, help = 'the same, and it waits for parents that were retried'},
  {from = 'retained', to = 'ready', by = {}, rarely = {'retry', 'bulk_update'}, help = 'the same, of one that is kept for its own time'},
  {from = 'retained', to = 'blocked', by = {}, rarely = {'retry', 'bulk_update'}, help = 'the same'},
  {from = 'completed', to = 'retained', by = {'maintain'}, rarely = {'turn'}, help = 'it is past the retention of its queue, and children may read its result, or it is kept for its own time'},

  {from = 'completed', to = 'none', by = {'turn', 'maintain', 'delete', 'bulk_update'}, rarely = {'forget', 'move'}, drawn = 'past its retention', help = 'it is past its retention, or was deleted'},
  {from = 'retained', to = 'none', by = {'turn', 'maintain', 'delete', 'link'}, rarely = {'block', 'signal', 'forget', 'deliver', 'cancel', 'depend', 'enqueue', 'fan', 'end_session', 'bulk_update', 'reap', 'expire', 'fail', 'retry', 'move', 'arrive'}, help = 'its last reader ended, or it was deleted'},
  {from = 'dead', to = 'none', by = {'turn', 'maintain', 'delete'}, rarely = {'block', 'signal', 'forget', 'bulk_update', 'deliver', 'depend', 'enqueue', 'fan', 'fail', 'move', 'arrive'}, drawn = 'past its retention', help = 'it is past its retention, or was deleted'},
  {from = 'cancelled', to = 'none', by = {'cancel', 'maintain', 'delete'}, rarely = {'block', 'forget', 'bulk_update', 'turn', 'end_session', 'fan', 'reap', 'expire', 'move'}, drawn = 'past its retention', help = 'the same'},
  {from = 'running', to = 'none', by = {'turn', 'reap'}, rarely = {'block', 'forget', 'end_session', 'expire', 'fail'}, help = 'it ended in a queue that keeps no such tasks'},
  {from = 'blocked', to = 'none', by = {'turn', 'maintain', 'cancel', 'delete', 'deliver', 'depend', 'enqueue', 'bulk_update', 'fan'}, rarely = {'block', 'signal', 'forget', 'fail', 'expire', 'move', 'arrive'},
    help = 'it was deleted or replaced, or it ended in a queue that keeps no such tasks, or it waited for the death of a parent, and all parents completed'},
  {from = 'ready', to = 'none', by = {'enqueue', 'cancel', 'delete', 'bulk_update', 'maintain'}, rarely = {'forget', 'depend', 'fail', 'move'}, help = 'it was deleted or replaced, or it ended in a queue that keeps no such tasks'},
  {from = 'scheduled', to = 'none', by = {'enqueue', 'cancel', 'delete', 'bulk_update', 'maintain'}, rarely = {'forget', 'depend', 'fail', 'move'}, help = 'the same'},
  {from = 'parked', to = 'none', by = {'delete'}, rarely = {'forget', 'maintain', 'enqueue', 'cancel', 'bulk_update', 'depend', 'fail', 'move'}, help = 'the same'},
}
