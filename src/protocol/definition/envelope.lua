-- The fields of an envelope's header, in the order in which they are written.
--   name, type, range
--   by        who writes it: the producer, enqueue, scripts later
--   read      who reads it: scripts, workers, clients
--   checked   true: a script that meets another type or range treats the task as malformed (lib/base.lua)
--   help      with the default of a field that is absent
return {
  {name = 'info', type = 'whole number', range = '1', by = 'scripts later', read = 'scripts, workers', help = 'the task has fields in `info:<id>`. Always the first field of the header'},
  {name = 'cancel', type = 'whole number', range = '1', by = 'scripts later', read = 'scripts', help = 'the task was cancelled while it ran. Only directly after `info`'},
  {name = 'spoilt', type = 'whole number', range = '1', by = 'scripts later', read = 'scripts', help = 'the task is malformed: the key `info:<id>` or `parents:<id>` had a wrong type and was deleted. Only after `info` and `cancel`'},
  {name = 'at', type = 'whole number', range = 'ms', by = 'enqueue', read = 'scripts, workers, clients', checked = true, help = "when the task was enqueued, by Redis's clock. Always present"},
  {name = 'p', type = 'whole number', range = '0 and more', by = 'enqueue', read = 'scripts', help = 'the segment in which the task was enqueued; the field stays when the task leaves the segment'},
  {name = 'deadline', type = 'whole number', range = 'ms', by = 'enqueue', read = 'scripts, workers', checked = true, help = 'the task must begin before this time; removed when it begins'},
  {name = 'type', type = 'text', range = 'a type', by = 'producer', read = 'scripts, workers', checked = true, help = 'chooses the handler. Always present'},
  {name = 'due', type = 'whole number', range = 'ms', by = 'producer; scripts later', read = 'workers, clients', help = 'when the task becomes ready; 0 after a delay because of its crashes (PUT_OFF_MS). Default: at once'},
  {name = 'delay', type = 'whole number', range = 'ms', by = 'producer; scripts later', read = 'workers, clients', help = 'the same, as a time after `at`'},
  {name = 'priority', type = 'whole number', range = '-128 to 127', by = 'producer; reschedule', read = 'scripts, workers, clients', checked = true, help = 'lower numbers are leased first. Default: 0'},
  {name = 'group', type = 'text', range = '1 to 100 bytes', by = 'producer', read = 'scripts, workers', checked = true, help = 'tasks of different groups alternate; a group can have limits. Default: no group'},
  {name = 'weight', type = 'whole number', range = '1 to 256', by = 'producer', read = 'scripts', checked = true, help = 'the weight of its group against other groups. Default: 1'},
  {name = 'cost', type = 'whole number', range = '1 to 1000000', by = 'producer', read = 'scripts', checked = true, help = 'the units of rate limits that each start of the task takes. Default: 1'},
  {name = 'limit_keys', type = 'array of texts', range = 'at most 8 of 1 to 100 bytes', by = 'producer', read = 'scripts, clients', checked = true, help = 'its limit keys: limits of each of them count the task. Default: none'},
  {name = 'attempts', type = 'whole number', range = '1 to 1000000', by = 'producer', read = 'workers', help = "number of failed attempts after which the task dies. Default: the value of the handler, else of the queue"},
  {name = 'crashes', type = 'whole number', range = '1 to 1000000', by = 'producer', read = 'workers', help = 'number of crashes after which the task dies. Default: as for `attempts`'},
  {name = 'timeout', type = 'whole number', range = 'ms', by = 'producer', read = 'workers', help = 'run time limit of an attempt. Default: as for `attempts`'},
  {name = 'backoff', type = 'object', range = '`shape` 0 exponential, 1 fixed, 2 list; `base`, `cap` (ms) or `list` (array of ms); `jitter` (thousandths; 0: the default, negative: none)',
    by = 'producer', read = 'workers', help = 'delays between attempts. Default: as for `attempts`'},
  {name = 'retry_for', type = 'whole number', range = 'ms', by = 'producer', read = 'workers', help = 'a failure later than this after `at` is final. Default: the value of the handler, else of the queue, else no limit'},
  {name = 'snoozes', type = 'whole number', range = 'from 1', by = 'producer', read = 'workers', help = 'number of times that its handler may snooze the task. Default: the value of the handler, else of the queue, else no limit'},
  {name = 'heartbeat', type = 'whole number', range = 'ms', by = 'producer', read = 'workers', help = 'heartbeat limit: longest time without a call of reeve_task_heartbeat, _extend, _progress, _checkpoint or _log. Default: the value of the handler, else of the queue, else no limit'},
  {name = 'at_most_once', type = 'whole number', range = '1', by = 'producer', read = 'workers', help = 'the task runs at most once. Default: at least once'},
  {name = 'keep', type = 'whole number', range = 'ms', by = 'producer', read = 'scripts, workers', help = 'how long its record is kept after it has completed. Default: the retention of the queue'},
  {name = 'unique', type = 'text', range = '1 to 200 bytes', by = 'producer', read = 'scripts', checked = true, help = 'its unique key. Default: none'},
  {name = 'until', type = 'text', range = '`started`, with `unique`', by = 'producer', read = 'scripts', checked = true, help = 'the key is released when the task is leased for the first time. Default: when the task has ended'},
  {name = 'unique_for', type = 'whole number', range = 'ms', by = 'producer', read = 'scripts', checked = true, help = 'the key is held for this time from the enqueue. Default: until the task has ended'},
  {name = 'on_dead', type = 'text', range = 'a type, or empty', by = 'producer', read = 'scripts', checked = true, help = "the type of a task to enqueue when this one dies; empty: none. Default: the queue's"},
  {name = 'of', type = 'text', range = 'an id', by = 'scripts', read = 'scripts', checked = true, help = 'the dead task for which this one was enqueued'},
  {name = 'tags', type = 'array of texts', range = 'at most 64 of 1 to 200 bytes', by = 'producer', read = 'scripts, clients', checked = true, help = 'its tags. Default: none'},
  {name = 'meta', type = 'object', range = 'texts', by = 'producer', read = 'handlers, clients', help = 'metadata of the producer. Default: none'},
  {name = 'worker', type = 'text', range = 'an id', by = 'producer', read = 'workers', help = 'the only worker that may run the task (`reeve_broadcast`). Default: any'},
  {name = 'reason', type = 'text', range = 'at most 200 bytes', by = 'cancel', read = 'clients', help = 'the reason of the last cancel. Default: none'},
}
