-- The fields of an envelope's header, in the order in which they are written.
--   name, type, range
--   by        who writes it: the producer, enqueue, scripts later
--   read      who reads it: scripts, workers, clients
--   checked   true: a script that meets another type or range treats the task as malformed (lib/base.lua)
--   help      with the default of a field that is absent
return {
  {name = 'info', type = 'whole number', range = '1', by = 'scripts later', read = 'scripts, workers', help = 'there is more in `info:<id>`. Stands first'},
  {name = 'cancel', type = 'whole number', range = '1', by = 'scripts later', read = 'scripts', help = 'it was cancelled while it ran. Only behind `info`'},
  {name = 'spoilt', type = 'whole number', range = '1', by = 'scripts later', read = 'scripts', help = '`info:<id>` or `parents:<id>` had another type, and was removed: the task is malformed. Only behind `info` and `cancel`'},
  {name = 'at', type = 'whole number', range = 'ms', by = 'enqueue', read = 'scripts, workers, clients', checked = true, help = "when it was enqueued, by Redis's clock. Always present"},
  {name = 'p', type = 'whole number', range = '0 and more', by = 'enqueue', read = 'scripts', help = 'the packet in which it was enqueued, also after it has left it'},
  {name = 'deadline', type = 'whole number', range = 'ms', by = 'enqueue', read = 'scripts, workers', checked = true, help = 'it must begin before this time; removed when it begins'},
  {name = 'type', type = 'text', range = 'a type', by = 'producer', read = 'scripts, workers', checked = true, help = 'chooses the handler. Always present'},
  {name = 'due', type = 'whole number', range = 'ms', by = 'producer; scripts later', read = 'workers, clients', help = 'when it becomes ready; 0 after it was put off. Default: at once'},
  {name = 'delay', type = 'whole number', range = 'ms', by = 'producer; scripts later', read = 'workers, clients', help = 'the same, after `at`'},
  {name = 'priority', type = 'whole number', range = '-128 to 127', by = 'producer; reschedule', read = 'scripts, workers, clients', checked = true, help = 'lower numbers are leased first. Default: 0'},
  {name = 'group', type = 'text', range = '1 to 100 bytes', by = 'producer', read = 'scripts, workers', checked = true, help = 'groups take turns and can have limits. Default: no group'},
  {name = 'weight', type = 'whole number', range = '1 to 256', by = 'producer', read = 'scripts', checked = true, help = 'the share of its group. Default: 1'},
  {name = 'attempts', type = 'whole number', range = '1 to 1000000', by = 'producer', read = 'workers', help = "the maximum of attempts. Default: the queue's or the handler's"},
  {name = 'crashes', type = 'whole number', range = '1 to 1000000', by = 'producer', read = 'workers', help = 'the maximum of crashes. Default: as `attempts`'},
  {name = 'timeout', type = 'whole number', range = 'ms', by = 'producer', read = 'workers', help = 'the maximum run time of an attempt. Default: as `attempts`'},
  {name = 'backoff', type = 'object', range = '`shape` 0 exponential, 1 fixed, 2 list; `base`, `cap` (ms) or `list` (array of ms); `jitter` (thousandths; 0: the default, negative: none)',
    by = 'producer', read = 'workers', help = 'the delays between attempts. Default: as `attempts`'},
  {name = 'heartbeat', type = 'whole number', range = 'ms', by = 'producer', read = 'workers', help = 'the handler must report progress at least so often. Default: never'},
  {name = 'once', type = 'whole number', range = '1', by = 'producer', read = 'workers', help = 'it runs at most once. Default: at least once'},
  {name = 'unique', type = 'text', range = '1 to 200 bytes', by = 'producer', read = 'scripts', checked = true, help = 'its unique key. Default: none'},
  {name = 'until', type = 'text', range = '`started`, with `unique`', by = 'producer', read = 'scripts', checked = true, help = 'the key is free from the first lease on. Default: when the task ends'},
  {name = 'hold', type = 'whole number', range = 'ms', by = 'producer', read = 'scripts', checked = true, help = 'the key is held for this time. Default: until the task ends'},
  {name = 'on_dead', type = 'text', range = 'a type, or empty', by = 'producer', read = 'scripts', checked = true, help = "the type of a task to enqueue when this one dies; empty: none. Default: the queue's"},
  {name = 'of', type = 'text', range = 'an id', by = 'scripts', read = 'scripts', checked = true, help = 'the dead task for which this one was enqueued'},
  {name = 'tags', type = 'array of texts', range = 'at most 64 of 1 to 200 bytes', by = 'producer', read = 'scripts, clients', checked = true, help = 'its tags. Default: none'},
  {name = 'meta', type = 'object', range = 'texts', by = 'producer', read = 'handlers, clients', help = 'metadata of the producer. Default: none'},
}
