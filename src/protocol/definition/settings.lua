-- The settings of a queue: one row a setting, in the order in which programs print them. A row has:
--
--   name     its path in the configuration, below queues[]; in C it is RV_QUEUE_<NAME>, where '.' becomes '_'
--   field    its field in the Redis hash `settings`; without: the name. Settings of one field are written together
--   member   its member of the JSON object in that field
--   type     count, ms, bytes, days, flag (1 or absent), type (of a task), backoff, rate
--   min, max, default    default: the value in force while the field is absent
--   unset    the value that removes the field; without: the field has every value
--   minus    the configuration takes -1 for that value
--   words    values that the command line names: {"word", value}, ...
--   c        its member of reeve_queue_settings (include/reeve/client.h): "pointer", or "pointer.member" in one of `structs`
--   ctype    the type that the pointer points to; without: by type
--   flag     its option of `reeve settings`; rows of one flag are the parts of its value, separated by colons
--   value    the name of that option's value; example: values of several parts, for the error message
--   json     its path in the JSON output of `reeve settings`; json_null: the value that is null there
--   script   the script that changes it; without: settings
--   notice   workers read it when they look after the queue: they are told to do so at once
--   beside   the key that is deleted with the field
--   help     what it is: for all documents; more: further sentences, for docs/configuration.md
local POLICY = 'attempts, max_crashes, timeout, retry_for, max_snoozes, backoff and record_runs'
return {
  structs = {completed = 'reeve_keep', dead = 'reeve_keep', policy = 'reeve_queue_policy'},
  -- Groups of the configuration below queues[]. `whole`: if the file has the group, it sets all settings in it.
  groups = {
    {name = 'group', help = 'Limits of each group. `reeve limit --group` sets the limits of one group, which override these. A group at its ' ..
      'limit does not delay other groups.'},
    {name = 'keep', help = 'Retention of ended tasks, by age and by number. A record that exceeds one of the two is deleted. 0: keep none; -1: no limit.'},
    {name = 'keep.completed', whole = true, help = 'Completed tasks, with their results, and cancelled tasks.'},
    {name = 'keep.dead', whole = true, help = 'Dead tasks.'},
    {name = 'keep.stats', whole = true, help = 'Statistics by day (`reeve stats`).'},
  },

  {name = 'attempts', field = 'policy', member = 'attempts', type = 'count', min = 1, max = 1000000, default = 20, unset = 0,
   words = {{'default', 0}}, c = 'policy.attempts', ctype = 'int', flag = 'attempts', value = 'N|default',
   json = 'attempts', json_null = 0, notice = true,
   help = 'number of failed attempts after which a task dies',
   more = 'It applies if neither the task nor its handler sets it. If the file sets any of ' .. POLICY ..
     ', it replaces all of them in Redis.'},
  {name = 'backoff', field = 'policy', member = 'backoff', type = 'backoff', unset = 0, c = 'policy.backoff',
   flag = 'backoff', value = 'SPEC|default', json = 'backoff', notice = true,
   help = 'delays between attempts, such as fixed:30s, list:1s,10s or exponential:1s:1h'},
  {name = 'max_crashes', field = 'policy', member = 'crashes', type = 'count', min = 1, max = 1000000, default = 3, unset = 0,
   words = {{'default', 0}}, c = 'policy.max_crashes', ctype = 'int', flag = 'max-crashes', value = 'N|default',
   json = 'max_crashes', json_null = 0, notice = true,
   help = 'number of crashes after which a task dies',
   more = 'It applies if neither the task nor its handler sets it.'},
  {name = 'timeout', field = 'policy', member = 'timeout', type = 'ms', min = 1, max = 2000000000000, unset = 0,
   words = {{'default', 0}}, c = 'policy.timeout_ms', flag = 'timeout', value = 'DURATION|default',
   json = 'timeout_ms', json_null = 0, notice = true,
   help = 'run time limit of an attempt', more = 'It applies if neither the task nor its handler sets it.'},
  {name = 'retry_for', field = 'policy', member = 'retry_for', type = 'ms', min = 1, max = 2000000000000, unset = 0,
   words = {{'default', 0}}, c = 'policy.retry_for_ms', flag = 'retry-for', value = 'DURATION|default',
   json = 'retry_for_ms', json_null = 0, notice = true,
   help = 'how long a task is retried after its enqueue: a later failure is final',
   more = 'It applies if neither the task nor its handler sets it.'},
  {name = 'max_snoozes', field = 'policy', member = 'snoozes', type = 'count', min = 1, max = 1000000, unset = 0,
   words = {{'default', 0}}, c = 'policy.max_snoozes', ctype = 'int', flag = 'max-snoozes', value = 'N|default',
   json = 'max_snoozes', json_null = 0, notice = true,
   help = 'number of times that a handler may snooze a task; the next time it dies',
   more = 'It applies if neither the task nor its handler sets it.'},
  {name = 'record_runs', field = 'policy', member = 'runs', type = 'flag', min = 0, max = 1, default = 0, unset = 0,
   c = 'policy.record_runs', flag = 'record-runs', value = 'yes|no', json = 'record_runs', notice = true,
   help = 'whether the record of a completed task contains when, and on which worker and thread, it ran',
   more = '`reeve show` prints it. A completion then costs Redis as much as a failed attempt, and about 150 bytes.'},
  {name = 'on_dead', type = 'type', words = {{'none', ''}}, c = 'on_dead', flag = 'on-dead', value = 'TYPE|none',
   json = 'on_dead',
   help = 'type of a task to enqueue for each task of the queue that dies',
   more = 'A task can set another type for itself. The payload of the new task tells which task died, and why.'},
  {name = 'result_max', type = 'bytes', min = 1, max = 16777216, default = 16777216, unset = 0, minus = true, words = {{'default', 0}},
   c = 'result_max', flag = 'result-max', value = 'BYTES|default', json = 'result_max_bytes', json_null = 0, notice = true,
   help = 'maximum length of a result in bytes',
   more = 'A task with a longer result dies with kind "result". -1: only `worker.size_limits.result` applies.'},
  {name = 'payload_max', type = 'bytes', min = 1, max = 67108864, default = 67108864, unset = 0, minus = true, words = {{'default', 0}},
   c = 'payload_max', flag = 'payload-max', value = 'BYTES|default', json = 'payload_max_bytes', json_null = 0, notice = true,
   help = 'maximum length of a payload in bytes, for all producers',
   more = 'A longer payload is refused, also by `reeve edit`; tasks that the queue has already stay. -1: only the size limits of producers apply.'},
  {name = 'events', type = 'count', min = 1, max = 1000000, unset = 0, minus = true, script = 'events',
   help = 'approximate number of events that the queue keeps (`reeve watch --since`)', more = '-1: none.'},
  {name = 'concurrency', type = 'count', min = 1, max = 1000000000, unset = 0, minus = true, script = 'limit',
   help = 'maximum number of tasks of the queue that run at the same time, over all workers', more = '-1: no limit.'},
  {name = 'rate', type = 'rate', script = 'limit',
   help = 'maximum number of tasks of the queue that start in a period, over all workers'},
  {name = 'group.concurrency', field = 'group_concurrency', type = 'count', min = 1, max = 1000000000, unset = 0,
   minus = true, script = 'limit', help = 'maximum number of tasks of a group that run at the same time', more = '1: one at a time, in order; -1: no limit.'},
  {name = 'group.strict', field = 'group_strict', type = 'flag', min = 0, max = 1, unset = 0, script = 'limit',
   help = 'whether a group starts no task until the task that it started last has ended, also while that task waits for a retry'},
  {name = 'group.rate', field = 'group_rate', type = 'rate', script = 'limit',
   help = 'maximum number of tasks of a group that start in a period'},
  {name = 'keep.completed.age', field = 'completed_age', type = 'ms', min = 0, max = 2000000000000, default = 86400000,
   words = {{'forever', -1}, {'none', 0}}, c = 'completed.age_ms', flag = 'keep-completed', value = 'AGE[:COUNT[:BYTES]]',
   example = '7d, 12h:5000, forever:all:64M or none (ages to 2000000000 s, counts to 1000000000)',
   json = 'keep.completed.age_ms', json_null = -1,
   help = 'maximum age of completed and cancelled tasks', brief = 'retention of completed and cancelled tasks: age, number, and total length of results',
   more = 'A day by default.'},
  {name = 'keep.completed.count', field = 'completed_count', type = 'count', min = 0, max = 1000000000, default = 10000,
   words = {{'all', -1}, {'none', 0}}, c = 'completed.count', flag = 'keep-completed',
   json = 'keep.completed.count', json_null = -1,
   help = 'maximum number of completed and cancelled tasks; the oldest are deleted first'},
  {name = 'keep.completed.bytes', field = 'completed_bytes', type = 'bytes', min = 1, max = 1000000000000000, unset = 0, minus = true,
   words = {{'any', 0}}, c = 'completed_bytes', flag = 'keep-completed', json = 'keep.completed.result_bytes', json_null = 0,
   notice = true, beside = 'result_sizes',
   help = 'maximum total length of all results in bytes; while it is exceeded, the oldest completed tasks are deleted'},
  {name = 'keep.dead.age', field = 'dead_age', type = 'ms', min = 0, max = 2000000000000, default = 7776000000,
   words = {{'forever', -1}, {'none', 0}}, c = 'dead.age_ms', flag = 'keep-dead', value = 'AGE[:COUNT]',
   example = '7d, 12h:5000, forever:all or none (ages to 2000000000 s, counts to 1000000000)',
   json = 'keep.dead.age_ms', json_null = -1,
   help = 'maximum age of dead tasks', brief = 'retention of dead tasks', more = '90 days by default.'},
  {name = 'keep.dead.count', field = 'dead_count', type = 'count', min = 0, max = 1000000000, default = 10000,
   words = {{'all', -1}, {'none', 0}}, c = 'dead.count', flag = 'keep-dead', json = 'keep.dead.count', json_null = -1,
   help = 'maximum number of dead tasks; the oldest are deleted first'},
  {name = 'keep.stats.days', field = 'stats_days', type = 'days', min = 0, max = 3650, default = 30,
   c = 'stats_days', flag = 'keep-stats', value = 'DAYS', json = 'keep.stats_days',
   help = 'number of days for which the statistics of each day are kept', more = '0: no statistics are recorded.'},
}
