-- The settings of a worker's configuration file: one row a setting, in the order of docs/configuration.md. A row has:
--
--   path       its place in the file: "worker.session"; "pools[].threads" is that of each element of the list `pools`
--   kind       group { ... }, groups ( { ... }, ... ), text, names [ "a" ], numbers [ 1 ], whole, seconds (whole or
--              fractional; milliseconds in C), choice, truth, switch (true, false or not set), backoff,
--              size_limit
--   min, max   of numbers, in the unit of the file; of lists the number of elements. A text is a
--              constant of C
--   forever    -1 is allowed, too: no limit
--   required   the file must have it; unique: no two elements of the list have the same
--   choices    of a choice: {"name in the file", "constant in C"}, ...; ctype: the type in C,
--              without: nothing is stored
--   check      of texts: the function in src/config/setting_rows.c that checks it; expected: what it
--              expects, "a directory"
--   default    the value in force where the file has none, as the file would have it; otherwise: the same in words
--   member     its name in C where that does not follow from the path: see src/protocol/generate/config_model.lua
--   help       what it is, in sentences
--
-- From the row come the member of its struct (rv_config in src/config/config.h), the check of the file, `reeve-worker
-- --help-config`, and docs/configuration.md. The settings of queues are in settings.lua.
return {
  {path = 'redis', kind = 'text', check = 'rv_config_check_redis', expected = 'a Redis URL', otherwise = 'embedded:',
   help = 'The URL of Redis: redis://[user:password@]host[:port][/db], rediss://... (TLS), ' ..
     'unix:///path.sock[?db=n] or embedded:[directory]. The option --redis and the environment ' ..
     'variable REEVE_REDIS have precedence.'},

  {path = 'redis_password_file', kind = 'text', check = 'check_anything', expected = 'a file', otherwise = 'none',
   help = 'A file whose first line is the password for `redis`. Only its owner, or the group root, may ' ..
     'read it. A user is written in the URL with nothing behind its colon: redis://user:@host. ' ..
     'The file is not used when --redis, --redis-file or REEVE_REDIS give the URL.'},

  {path = 'namespace', kind = 'text', member = 'ns', check = 'check_ns', expected = '1 to 64 of A-Z a-z 0-9 . _ : -',
   default = 'reeve', help = 'The prefix of every key. Workers run only tasks of their own namespace.'},

  {path = 'tls', kind = 'group', ctype = 'reeve_tls',
   help = 'TLS for rediss:// URLs. URL parameters have precedence; environment variables (REEVE_TLS_CA ' ..
     'and so on) are used last. A changed file is read again before the next connection.'},
  {path = 'tls.ca', kind = 'text', expected = 'a file', otherwise = 'the system\'s, unless ca_dir is set',
   help = 'PEM certificates of trusted authorities.'},
  {path = 'tls.ca_dir', kind = 'text', expected = 'a directory', otherwise = 'none',
   help = 'A directory of such files, named by hash as `openssl rehash` does.'},
  {path = 'tls.cert', kind = 'text', expected = 'a file', otherwise = 'none is sent',
   help = 'The client\'s certificate and its chain, PEM. Requires `key`.'},
  {path = 'tls.key', kind = 'text', expected = 'a file', otherwise = 'none',
   help = 'The private key of `cert`, PEM, not encrypted.'},
  {path = 'tls.server_name', kind = 'text', expected = 'a name', otherwise = 'the URL\'s host',
   help = 'The name or IP address that the server\'s certificate must have.'},
  {path = 'tls.min_version', kind = 'text', check = 'check_tls_version', expected = '"1.2" or "1.3"',
   otherwise = '1.2', help = 'The lowest TLS version to accept.'},
  {path = 'tls.required', kind = 'truth', default = 'false',
   help = 'true: refuse redis:// URLs. unix: and embedded: URLs stay allowed.'},

  {path = 'worker', kind = 'group', help = 'The worker itself.'},
  {path = 'worker.name', kind = 'text', check = 'check_worker_name', expected = '1 to 100 printable characters',
   otherwise = 'the host\'s name', help = 'The name that `reeve workers` prints.'},
  {path = 'worker.session', kind = 'seconds', min = 0.5, max = 86400, default = '15',
   help = 'A lease expires this long after its worker\'s last heartbeat. A shorter time finds a dead ' ..
     'worker sooner; a longer one survives longer pauses and outages.'},
  {path = 'worker.drain', kind = 'seconds', min = 0, max = 86400, default = '25',
   help = 'How long a stopping worker waits for running handlers. Tasks that are still running then ' ..
     'return to their queues.'},
  {path = 'worker.size_limits', kind = 'group', ctype = 'reeve_size_limits',
   help = 'Size limits for results, checkpoints and chained tasks of handlers, and for tasks of the ' ..
     'file\'s recurring entries. Producers have size limits of their own (`reeve --size-limit`, ' ..
     '`reeve_client_options`). Lengths are in bytes.'},
  {path = 'worker.size_limits.payload', kind = 'size_limit', max = 'REEVE_PAYLOAD_MAX', otherwise = 'the maximum',
   help = 'Length of the payload of a chained task.'},
  {path = 'worker.size_limits.result', kind = 'size_limit', max = 'REEVE_RESULT_MAX', otherwise = 'the maximum',
   help = 'Length of a result. A task with a longer result dies with kind "result". A queue can set a ' ..
     'lower limit: `result_max`.'},
  {path = 'worker.size_limits.checkpoint', kind = 'size_limit', max = 'REEVE_CHECKPOINT_MAX',
   otherwise = 'the maximum', help = 'Length of a checkpoint; a longer one is refused.'},
  {path = 'worker.size_limits.meta', kind = 'size_limit', max = 'REEVE_META_MAX', otherwise = 'the maximum',
   help = 'Length of a task\'s tags and metadata as JSON.'},
  {path = 'worker.size_limits.type', kind = 'size_limit', max = 'REEVE_TYPE_MAX', otherwise = 'the maximum',
   help = 'Length of a type.'},
  {path = 'worker.size_limits.id', kind = 'size_limit', max = 'REEVE_ID_LENGTH_MAX', otherwise = 'the maximum',
   help = 'Length of an id that a handler chooses.'},
  {path = 'worker.size_limits.group', kind = 'size_limit', max = 'REEVE_GROUP_MAX', otherwise = 'the maximum',
   help = 'Length of a group name.'},
  {path = 'worker.size_limits.unique', kind = 'size_limit', max = 'REEVE_UNIQUE_MAX', otherwise = 'the maximum',
   help = 'Length of a unique key.'},
  {path = 'worker.size_limits.tag', kind = 'size_limit', max = 'REEVE_TAG_MAX', otherwise = 'the maximum',
   help = 'Length of a tag.'},
  {path = 'worker.size_limits.tags', kind = 'size_limit', max = 'REEVE_TAGS_MAX', otherwise = 'the maximum',
   help = 'Number of tags of a task.'},
  {path = 'worker.size_limits.parents', kind = 'size_limit', max = 'REEVE_SIZE_LIMIT_COUNT_MAX',
   otherwise = '1000000', help = 'Number of parents of a task.'},
  {path = 'worker.size_limits.batch', kind = 'size_limit', max = 'REEVE_CHAIN_MAX', otherwise = 'the maximum',
   help = 'Number of tasks that one task chains.'},
  {path = 'worker.log', kind = 'group', help = 'The log, on standard error.'},
  {path = 'worker.log.level', kind = 'choice', ctype = 'reeve_log_level',
   choices = {{'debug', 'REEVE_LOG_DEBUG'}, {'info', 'REEVE_LOG_INFO'}, {'warn', 'REEVE_LOG_WARN'},
     {'error', 'REEVE_LOG_ERROR'}, {'off', 'REEVE_LOG_OFF'}},
   default = 'info', help = 'The lowest level that is written.'},
  {path = 'worker.log.format', kind = 'choice', ctype = 'rv_log_format',
   choices = {{'logfmt', 'RV_LOG_LOGFMT'}, {'json', 'RV_LOG_JSON'}}, default = 'logfmt',
   help = 'The format of a line.'},

  {path = 'plugin_dir', kind = 'text', expected = 'a directory',
   otherwise = 'the environment variable REEVE_PLUGIN_DIR, else the directory of this installation',
   help = 'The directory of plugins that are given by name: "checksum" is DIR/checksum.so. Relative to ' ..
     'this file.'},

  {path = 'plugins', kind = 'names', unique = true, expected = 'a plugin\'s name or path', otherwise = 'none',
   help = 'Plugins to load: names in the plugin directory, or paths, which have a slash and are ' ..
     'relative to this file.'},

  {path = 'pools', kind = 'groups', required = true, help = 'Pools of threads; each serves its own list of queues.'},
  {path = 'pools[].name', kind = 'text', unique = true, check = 'check_queue',
   expected = '1 to 64 of A-Z a-z 0-9 . _ -', otherwise = 'pool-N', help = 'Names the pool and its threads.'},
  {path = 'pools[].queues', kind = 'names', max = 1000, required = true, unique = true, check = 'check_queue',
   expected = 'a queue name (1 to 64 of A-Z a-z 0-9 . _ -)', help = 'The queues to serve, in order.'},
  {path = 'pools[].threads', kind = 'whole', min = 1, max = 1024, default = '1',
   help = 'Number of threads, and so of tasks that run at the same time.'},
  {path = 'pools[].batch', kind = 'whole', min = 1, max = 256, default = '64',
   help = 'Maximum of short tasks that a thread leases at once. Long tasks are leased one by one, ' ..
     'whatever this is.'},
  {path = 'pools[].order', kind = 'choice', ctype = 'reeve_order',
   choices = {{'strict', 'REEVE_ORDER_STRICT'}, {'weighted', 'REEVE_ORDER_WEIGHTED'},
     {'round-robin', 'REEVE_ORDER_ROUND_ROBIN'}},
   default = 'strict',
   help = 'Which queue a thread asks first. strict: the first one that has tasks; weighted: each gets ' ..
     'its share; round-robin: the one behind the queue that it leased from last. No order waits ' ..
     'for an empty queue.'},
  {path = 'pools[].weights', kind = 'numbers', min = 1, max = 1000, otherwise = 'each 1',
   help = 'For the order "weighted": the share of each queue, in the order of `queues`. With [ 5, 1 ], ' ..
     'five of six tasks are from the first queue while both have tasks.'},
  {path = 'pools[].isolation', kind = 'choice', choices = {{'thread', '0'}}, default = 'thread',
   help = 'Where handlers run: on the pool\'s threads.'},

  {path = 'handlers', kind = 'groups', otherwise = 'none',
   help = 'Overrides options of the handlers of a type. Options of a task have precedence.'},
  {path = 'handlers[].type', kind = 'text', required = true, unique = true, check = 'check_type',
   expected = 'a type (1 to 100 of A-Z a-z 0-9 . _ - : /)', help = 'The type; a plugin must have a handler for it.'},
  {path = 'handlers[].attempts', kind = 'whole', min = 1, max = 1000000,
   otherwise = 'the handler\'s, else the queue\'s, else 20',
   help = 'Number of failed attempts after which a task dies.'},
  {path = 'handlers[].max_crashes', kind = 'whole', min = 1, max = 1000000,
   otherwise = 'the handler\'s, else the queue\'s, else 3',
   help = 'Number of crashes of its workers after which a task dies.'},
  {path = 'handlers[].timeout', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the handler\'s, else the queue\'s, else none', help = 'The run time limit.'},
  {path = 'handlers[].heartbeat', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the handler\'s, else none',
   help = 'The heartbeat limit: the longest time without a call of progress, checkpoint, log or ' ..
     'heartbeat.'},
  {path = 'handlers[].at_most_once', kind = 'truth', default = 'false',
   help = 'true: complete tasks before they run, so that they never run twice.'},
  {path = 'handlers[].backoff', kind = 'backoff', otherwise = 'the handler\'s, else the queue\'s'},
  {path = 'handlers[].batch_size', kind = 'whole', min = 1, max = 'REEVE_BATCH_SIZE_MAX',
   otherwise = 'the handler\'s, else 64',
   help = 'Maximum of tasks in one call of a batch handler. It applies in place of the pool\'s `batch`.'},
  {path = 'handlers[].batch_wait', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the handler\'s, else none',
   help = 'How long the first task of such a call waits for others. By default the call gets the tasks ' ..
     'that are there.'},

  {path = 'queues', kind = 'groups', otherwise = 'none',
   help = 'Settings of queues, written to Redis when the worker starts; in force for all workers.'},
  {path = 'queues[].name', kind = 'text', required = true, unique = true, check = 'check_queue',
   expected = 'a queue name (1 to 64 of A-Z a-z 0-9 . _ -)', help = 'The queue. A pool need not serve it.'},
  {settings = true}, -- the rows of settings.lua

  {path = 'cron', kind = 'groups', otherwise = 'none',
   help = 'Recurring entries. They are written to Redis when the worker starts. An entry that does not ' ..
     'change keeps its next slot, and a paused one stays paused. An entry that is no longer in ' ..
     'the file stays in Redis until `reeve cron remove QUEUE/NAME`.'},
  {path = 'cron[].name', kind = 'text', required = true, check = 'check_queue',
   expected = '1 to 64 of A-Z a-z 0-9 . _ -',
   help = 'The name, unique among all entries of the namespace. An entry of this name in another queue ' ..
     'is moved, which is logged (program.cron_moved).'},
  {path = 'cron[].spec', kind = 'text', required = true, check = 'check_spec',
   expected = 'when, as "0 3 * * *", "@hourly" or "every 90s"',
   help = 'Minute, hour, day, month, weekday; or six fields with seconds first; or a name such as ' ..
     '@daily; or an interval. `reeve cron next SPEC` prints the slots.'},
  {path = 'cron[].queue', kind = 'text', required = true, check = 'check_queue',
   expected = 'a queue name (1 to 64 of A-Z a-z 0-9 . _ -)',
   help = 'The queue of its tasks. The entry fires while a worker serves the queue.'},
  {path = 'cron[].type', kind = 'text', required = true, check = 'check_type',
   expected = 'a type (1 to 100 of A-Z a-z 0-9 . _ - : /)', help = 'The type of its tasks.'},
  {path = 'cron[].payload', kind = 'text', check = 'check_anything', expected = 'a text', otherwise = 'empty',
   help = 'The payload of its tasks.'},
  {path = 'cron[].zone', kind = 'choice', ctype = 'rv_zone',
   choices = {{'utc', 'RV_ZONE_UTC'}, {'local', 'RV_ZONE_LOCAL'}}, default = 'utc',
   help = 'local: the workers\' local time. A slot that a clock change skips fires right after the ' ..
     'change, and one that it repeats fires once; an entry for every hour fires each real hour.'},
  {path = 'cron[].catch_up', kind = 'choice', ctype = 'reeve_catch_up',
   choices = {{'once', 'REEVE_CATCH_UP_ONCE'}, {'skip', 'REEVE_CATCH_UP_SKIP'}, {'all', 'REEVE_CATCH_UP_ALL'}},
   default = 'once',
   help = 'What happens with missed slots, those that are more than 2 s late because no worker was ' ..
     'running. once: one task for the last of them; skip: no task; all: a task for each.'},
  {path = 'cron[].catch_up_max', kind = 'whole', min = 1, max = 'REEVE_CRON_CATCH_UP_MAX',
   otherwise = '100 with catch_up = "all"', help = 'With catch_up = "all": maximum of tasks, for the last slots.'},
  {path = 'cron[].overlap', kind = 'truth', default = 'true',
   help = 'false: skip a slot while the previous task has not ended.'},
  {path = 'cron[].priority', kind = 'whole', min = 'REEVE_PRIORITY_MIN', max = 'REEVE_PRIORITY_MAX', default = '0',
   help = 'The priority of its tasks; lower runs sooner.'},
  {path = 'cron[].group', kind = 'text', check = 'check_group', expected = '1 to 100 bytes of UTF-8',
   otherwise = 'the common group', help = 'The group of its tasks; groups take turns.'},
  {path = 'cron[].weight', kind = 'whole', min = 1, max = 256, otherwise = '1',
   help = 'The share of the group; only with a group.'},
  {path = 'cron[].attempts', kind = 'whole', min = 1, max = 1000000,
   otherwise = 'the handler\'s, else the queue\'s, else 20',
   help = 'Number of failed attempts after which a task dies.'},
  {path = 'cron[].max_crashes', kind = 'whole', min = 1, max = 1000000,
   otherwise = 'the handler\'s, else the queue\'s, else 3',
   help = 'Number of crashes of its workers after which a task dies.'},
  {path = 'cron[].timeout', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the handler\'s, else the queue\'s, else none', help = 'The run time limit.'},
  {path = 'cron[].backoff', kind = 'backoff', otherwise = 'the handler\'s, else the queue\'s'},
  {path = 'cron[].tags', kind = 'names', max = 256, expected = 'a tag', otherwise = 'none',
   help = 'The tags of its tasks.'},
}
