-- The outcomes that `turn` accepts in a record, with its three arguments.
return {
  {name = 'done', args = 'result, `1` if there is a result, letters', to = 'completed',
    help = 'the attempt completed. Letters: `i` it has `info:<id>` or `parents:<id>`, `1` it has a unique key, `k` it keeps that key while its handler runs (`once:<session>`), `c` it has a checkpoint, `d` it has a deadline, `r` its run is recorded, `t` it has a retention of its own (`keep`)'},
  {name = 'retry', args = 'delay (ms), kind, message', to = 'scheduled', help = 'the attempt failed, and another one follows'},
  {name = 'fail', args = '`1` if an attempt failed, kind, message', to = 'dead', help = 'the task failed for good'},
  {name = 'crash', args = 'the number of crashes with which the task dies, message, backtrace', to = 'ready; dead',
    help = 'its process died while its handler ran, as the supervisor of the worker reports; it goes back to the front of its queue. Number 0: it is not known whether the task caused the crash'},
  {name = 'snooze', args = 'delay (ms); `1` if its handler had begun, `2` if in addition the snooze is counted, else empty; an empty text', to = 'scheduled; ready with delay 0',
    help = 'it runs again later, without a failure; delay 0: it is given back to the front of its queue'},
  {name = 'cancel', args = '`1` if no record of it is to be kept, reason, empty', to = 'cancelled', help = 'its handler ended it as cancelled, or discarded it'},
  {name = 'chain', args = 'handle, options, rest of the envelope', to = 'a new task',
    help = 'a chained task; the record of the task that enqueues it follows'},
}
