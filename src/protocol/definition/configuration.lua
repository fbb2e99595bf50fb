-- The settings of a worker's configuration file: one row a setting, in the order of docs/configuration.md. A row has:
--
--   path       its place in the file: "worker.session"; "pools[].threads" is that of each element of the list `pools`
--   kind       group { ... }, groups ( { ... }, ... ), options { name = value; ... }, text, names [ "a" ], numbers [ 1 ], whole, seconds (whole or
--              fractional; milliseconds in C), choice, truth, switch (true, false or not set), backoff,
--              size_limit
--   min, max   of numbers, in the unit of the file; of lists the number of elements. A text is a
--              constant of C
--   forever    -1 is allowed, too: no limit
--   short      of groups: an element may also be a text, which is its setting of this name
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
     'redis-sentinel://host,host/master[/db], unix:///path.sock[?db=n] or embedded:[directory]. The option --redis and the environment ' ..
     'variable REEVE_REDIS have precedence.'},

  {path = 'redis_password_file', kind = 'text', check = 'check_anything', expected = 'a file', otherwise = 'none',
   help = 'A file whose first line is the password for `redis`. Only its owner, or the group root, may ' ..
     'read it. If there is a user, write it in the URL with an empty password: redis://user:@host. ' ..
     'The file is not used when --redis, --redis-file or REEVE_REDIS give the URL.'},

  {path = 'namespace', kind = 'text', member = 'ns', check = 'check_ns', expected = '1 to 64 of A-Z a-z 0-9 . _ : -',
   default = 'reeve', help = 'The text with which all keys in Redis begin. Workers run only tasks of their own namespace.'},

  {path = 'tls', kind = 'group', ctype = 'reeve_tls',
   help = 'TLS for rediss:// URLs. URL parameters have precedence; environment variables (REEVE_TLS_CA ' ..
     'and so on) apply if neither sets a value. A changed file is read again before the next connection.'},
  {path = 'tls.ca', kind = 'text', expected = 'a file', otherwise = 'the system\'s, unless ca_dir is set',
   help = 'PEM certificates of trusted authorities.'},
  {path = 'tls.ca_dir', kind = 'text', expected = 'a directory', otherwise = 'none',
   help = 'A directory of such certificates, whose files have the names that `openssl rehash` gives them.'},
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
  {path = 'worker.health', kind = 'text', check = 'check_anything', expected = 'the path of a socket', otherwise = 'none',
   help = 'The socket on which the worker reports its health. To each program that connects, it sends a line of JSON: ' ..
     'whether it is alive, and whether it is ready, that is, leases tasks, and Redis accepts its heartbeats. `reeve-worker --health SOCKET` ' ..
     'prints it.'},
  {path = 'worker.session', kind = 'seconds', min = 0.5, max = 86400, default = '15',
   help = 'Time after the last heartbeat of a worker until its leases expire, and other workers recover its tasks. With ' ..
     'a shorter time, a dead worker is detected sooner. With a longer time, a worker survives longer outages.'},
  {path = 'worker.drain', kind = 'seconds', min = 0, max = 86400, default = '25',
   help = 'How long a stopping worker waits for its running handlers. Then the tasks that still run return to their ' ..
     'queues.'},
  {path = 'worker.supervise', kind = 'truth', default = 'true',
   help = 'true: a small parent process supervises the worker. When a handler crashes, the tasks that had finished are ' ..
     'settled at once, the crash is reported for the task that caused it, and a new worker is started. false: ' ..
     'the worker is the only process. The options --supervise and --no-supervise have precedence.'},
  {path = 'worker.crash_dir', kind = 'text', check = 'check_anything', expected = 'a directory', otherwise = 'none',
   help = 'For a worker without a supervisor: an existing directory in which it records what its threads lease, begin and ' ..
     'finish. After its death, the next worker with this directory settles what had finished, gives back what had only been ' ..
     'leased, and counts a crash for the tasks that ran, without waiting for the end of the session. A supervised worker ' ..
     'needs none.'},
  {path = 'worker.frozen', kind = 'seconds', min = 0, max = 86400, default = '60',
   help = 'If the main thread of a supervised worker gives no sign of life for this time, the worker is killed and a ' ..
     'new one is started. The time in which plugins are loaded, at the start or at a reload, does not count. If the ' ..
     'supervisor itself did not run either, for example in a paused container, the time begins again. 0: never.'},
  {path = 'worker.grace', kind = 'seconds', min = 0.001, max = 86400, default = '10',
   help = 'How long a handler may continue after its time limit. After that it counts as stuck: the worker logs the ' ..
     'stack of its thread, and starts a spare thread.'},
  {path = 'worker.spare_threads', kind = 'whole', min = 0, max = 1024, default = '4',
   help = 'Maximum number of spare threads, which the worker starts in place of stuck ones. If more threads are stuck, ' ..
     'a supervised worker is replaced by a new one, and a worker without a supervisor reports that it is not ready (`health`).'},
  {path = 'worker.max_tasks', kind = 'whole', min = 0, max = 1000000000000, default = '0',
   help = 'Number of tasks after which a supervised worker finishes its running tasks, ends, and is replaced by a new ' ..
     'one. A worker without a supervisor reports instead that it is not ready (`health`). 0: no limit.'},
  {path = 'worker.max_memory', kind = 'whole', min = 0, max = 1000000000000000, default = '0',
   help = 'Bytes of resident memory of the process above which the worker is replaced as with `max_tasks`. It is ' ..
     'checked once a second. 0: no limit.'},
  {path = 'worker.size_limits', kind = 'group', ctype = 'reeve_size_limits',
   help = 'Size limits for results, checkpoints and chained tasks of handlers, and for the tasks of the ' ..
     'recurring entries in the file. Producers have size limits of their own (`reeve --size-limit`, ' ..
     '`reeve_client_options`). Lengths are in bytes.'},
  {path = 'worker.size_limits.payload', kind = 'size_limit', max = 'REEVE_PAYLOAD_MAX', otherwise = 'the maximum',
   help = 'Length of the payload of a chained task.'},
  {path = 'worker.size_limits.result', kind = 'size_limit', max = 'REEVE_RESULT_MAX', otherwise = 'the maximum',
   help = 'Length of a result. A task with a longer result dies with kind "result". A queue can set a ' ..
     'lower limit: `result_max`.'},
  {path = 'worker.size_limits.checkpoint', kind = 'size_limit', max = 'REEVE_CHECKPOINT_MAX',
   otherwise = 'the maximum', help = 'Length of a checkpoint. A longer checkpoint is refused.'},
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
  {path = 'worker.settings_from', kind = 'choice', ctype = 'rv_settings_from',
   choices = {{'file', 'RV_SETTINGS_FROM_FILE'}, {'redis', 'RV_SETTINGS_FROM_REDIS'}}, default = 'file',
   help = 'Which value applies if a setting of a queue, or a recurring entry, differs between this file and Redis. ' ..
     'file: the value of the file, which the worker writes to Redis when it starts or reloads; redis: the value in Redis, ' ..
     'which somebody or another worker has set. The worker logs each difference.'},
  {path = 'worker.log', kind = 'group', help = 'The log.'},
  {path = 'worker.log.level', kind = 'choice', ctype = 'reeve_log_level',
   choices = {{'debug', 'REEVE_LOG_DEBUG'}, {'info', 'REEVE_LOG_INFO'}, {'warn', 'REEVE_LOG_WARN'},
     {'error', 'REEVE_LOG_ERROR'}, {'off', 'REEVE_LOG_OFF'}},
   default = 'info', help = 'The lowest level of messages that the worker writes.'},
  {path = 'worker.log.format', kind = 'choice', ctype = 'rv_log_format',
   choices = {{'logfmt', 'RV_LOG_LOGFMT'}, {'json', 'RV_LOG_JSON'}, {'journald', 'RV_LOG_JOURNALD'}}, default = 'logfmt',
   help = 'The format of the lines of the log. journald: logfmt, with the priority before each line, such as "<6>". The ' ..
     'journal of systemd reads and removes it.'},
  {path = 'worker.log.file', kind = 'text', check = 'check_anything', expected = 'a file', otherwise = 'standard error',
   help = 'The file that the log is appended to, relative to the directory of this file. It takes the place of standard ' ..
     'error, also for handlers. `reeve signal WORKER rotate-logs` and the signal USR2 open it again after a rotation.'},
  {path = 'worker.log.flood', kind = 'whole', min = 0, max = 1000000, default = '1000',
   help = 'Number of lines with the same `event` that the worker writes in a second. Further lines are held back, and a line ' ..
     'event=log.held reports their number. 0: no limit.'},

  {path = 'plugin_dir', kind = 'text', expected = 'a directory',
   otherwise = 'the environment variable REEVE_PLUGIN_DIR, else the directory of this installation',
   help = 'The directory of plugins that are given by name: "checksum" is DIR/checksum.so. It is relative to the ' ..
     'directory of this file.'},

  {path = 'plugins', kind = 'groups', short = 'name', otherwise = 'none',
   help = 'Plugins to load. An element is a group, or only the text of its `name`: [ "checksum" ].'},
  {path = 'plugins[].name', kind = 'text', required = true, unique = true, expected = 'a plugin\'s name or path',
   help = 'With a slash, a path relative to the directory of this file; else a name in the plugin directory.'},
  {path = 'plugins[].options', kind = 'options', otherwise = 'none',
   help = 'Values for the options that the plugin declares. The option "retry.max" is the setting `max` in a group ' ..
     '`retry`. `reeve-worker --dump-plugin` prints the options of a plugin.'},

  {path = 'pools', kind = 'groups', required = true, help = 'Pools of threads; each serves its own list of queues.'},
  {path = 'pools[].name', kind = 'text', unique = true, check = 'check_queue',
   expected = '1 to 64 of A-Z a-z 0-9 . _ -', otherwise = 'pool-N', help = 'Names the pool and its threads.'},
  {path = 'pools[].queues', kind = 'names', max = 1000, required = true, unique = true, check = 'check_queue',
   expected = 'a queue name (1 to 64 of A-Z a-z 0-9 . _ -)', help = 'The queues to serve, in order.'},
  {path = 'pools[].threads', kind = 'group', short = 'max',
   otherwise = 'the number of processors that the worker may use, by its affinity and its control group',
   help = 'Number of threads; each runs one task at a time. A number alone, `threads = 8`, is fixed. A group with ' ..
     '`min` and `max`, `threads = { min = 2; max = 32; }`, lets the number follow the work: it grows while all threads are ' ..
     'busy and tasks wait longer than `target_wait`, and shrinks after `shrink_after`. The pool does not get more threads than ' ..
     'are needed to keep all processors busy: handlers that compute get about as many threads as there are processors.'},
  {path = 'pools[].threads.min', kind = 'whole', min = 1, max = 1024, required = true,
   help = 'Minimum number of threads.'},
  {path = 'pools[].threads.max', kind = 'whole', min = 1, max = 1024, required = true,
   help = 'Maximum number of threads.'},
  {path = 'pools[].target_wait', kind = 'seconds', min = 0.001, max = 3600, otherwise = '0.5',
   help = 'For a pool whose number of threads follows the work: how long a ready task may wait before the pool grows.'},
  {path = 'pools[].shrink_after', kind = 'seconds', min = 0.1, max = 86400, otherwise = '30',
   help = 'A pool whose number of threads follows the work shrinks when it has had idle threads for this time.'},
  {path = 'pools[].nice', kind = 'whole', min = -20, max = 19, otherwise = 'that of the process',
   help = 'Niceness of the threads: a higher value leaves more processor time to others. Values below that of the process need a ' ..
     'privilege (CAP_SYS_NICE).'},
  {path = 'pools[].cpus', kind = 'text', check = 'check_cpus', expected = 'a list of processors, such as "0-3,8"',
   otherwise = 'those of the process', help = 'The processors that the threads may use.'},
  {path = 'pools[].batch', kind = 'whole', min = 1, max = 256, default = '128',
   help = 'Maximum number of short tasks that a thread leases at once. Long tasks are always leased one by one.'},
  {path = 'pools[].batch_time', kind = 'seconds', min = 0.001, max = 1, otherwise = '0.025',
   help = 'In one call, a thread leases only as many tasks as it will probably run in this time, by the run times of ' ..
     'its last tasks, and at most `batch`. If one of its last 16 calls found fewer tasks than the thread wanted, a value ' ..
     'above 0.002 counts as 0.002.'},
  {path = 'pools[].order', kind = 'choice', ctype = 'reeve_order',
   choices = {{'strict', 'REEVE_ORDER_STRICT'}, {'weighted', 'REEVE_ORDER_WEIGHTED'},
     {'round-robin', 'REEVE_ORDER_ROUND_ROBIN'}},
   default = 'strict',
   help = 'From which queue a thread leases first. strict: the first queue in the list that has tasks; weighted: each ' ..
     'queue in proportion to its weight; round-robin: the queue after the one from which the thread leased last. ' ..
     'Empty queues are skipped.'},
  {path = 'pools[].weights', kind = 'numbers', min = 1, max = 1000, otherwise = 'each 1',
   help = 'For the order "weighted": the share of each queue, in the order of `queues`. With [ 5, 1 ], ' ..
     'five of six tasks are from the first queue while both have tasks.'},
  {path = 'pools[].isolation', kind = 'choice', ctype = 'reeve_isolation',
   choices = {{'thread', 'REEVE_ISOLATION_THREAD'}, {'process', 'REEVE_ISOLATION_PROCESS'}}, default = 'thread',
   help = 'Where handlers run. thread: on the threads of the pool; process: each thread has a process of its own for ' ..
     'them, which loads the plugins once. A crash then ends only this process, and counts for exactly one task.'},
  {path = 'pools[].runner', kind = 'group',
   help = 'Limits of the processes in which the handlers of a pool with `isolation = "process"` run.'},
  {path = 'pools[].runner.memory', kind = 'whole', min = 16777216, max = 1125899906842624, otherwise = 'no limit',
   help = 'Bytes of private memory of a process: further allocations of its handler fail.'},
  {path = 'pools[].runner.cpu_time', kind = 'seconds', min = 1, max = 1000000, otherwise = 'no limit',
   help = 'CPU time of a task, in whole seconds, rounded up. A task that uses more has crashed.'},
  {path = 'pools[].runner.files', kind = 'whole', min = 16, max = 1000000, otherwise = 'that of the worker',
   help = 'Number of open descriptors of a process.'},
  {path = 'pools[].runner.processes', kind = 'whole', min = 1, max = 1000000, otherwise = 'that of the worker',
   help = 'Number of all processes and threads of the user of the worker. It has no effect for root.'},
  {path = 'pools[].runner.file_size', kind = 'whole', min = 1, max = 1125899906842624, otherwise = 'no limit',
   help = 'Bytes of a file that a task writes. A task that writes a longer file has crashed.'},
  {path = 'pools[].runner.max_tasks', kind = 'whole', min = 1, max = 1000000000, otherwise = 'no limit',
   help = 'Number of tasks after which a process is replaced. Each process has a random limit, up to a tenth lower.'},
  {path = 'pools[].runner.max_memory', kind = 'whole', min = 1, max = 1125899906842624, otherwise = 'no limit',
   help = 'Bytes of resident memory above which a process is replaced after a task.'},
  {path = 'pools[].runner.max_age', kind = 'seconds', min = 1, max = 2000000000, otherwise = 'no limit',
   help = 'Age above which a process is replaced after a task.'},
  {path = 'pools[].runner.grace', kind = 'seconds', min = 0.001, max = 86400, otherwise = '2',
   help = 'Time from a request to stop until a handler that has not returned gets SIGTERM, and from there until its ' ..
     'process group is killed.'},
  {path = 'pools[].runner.scratch', kind = 'text', check = 'check_anything', expected = 'a directory', otherwise = 'none',
   help = 'A directory in which each task gets a new private directory, which is its working directory and its TMPDIR. ' ..
     'It is removed after the task.'},
  {path = 'pools[].runner.user', kind = 'text', check = 'check_anything', expected = 'USER or USER:GROUP', otherwise = 'that of the worker',
   help = 'Who the processes run as, names or numbers. The worker must run as root.'},
  {path = 'pools[].runner.cgroup', kind = 'text', check = 'check_anything', expected = '"own" or a directory of cgroup v2', otherwise = 'none',
   help = 'Each process, with those that it starts, gets a control group of its own in this directory. "own" means ' ..
     'the control group of the worker, which must be delegated (systemd: Delegate=yes). When the process ends, all ' ..
     'others of its group are killed.'},
  {path = 'pools[].runner.cgroup_memory', kind = 'whole', min = 16777216, max = 1125899906842624, otherwise = 'no limit',
   help = 'Bytes of memory of the control group. A task that uses more is killed and has crashed. `reeve workers --json` ' ..
     'shows whether the limit is in force.'},
  {path = 'pools[].sandbox', kind = 'group',
   help = 'What handlers of a pool with `isolation = "process"` can reach, as far as the kernel (Landlock) and the build (libseccomp) ' ..
     'can limit it; `reeve workers --json` shows what is in force. The worker itself loads the plugins, too, unconfined.'},
  {path = 'pools[].sandbox.network', kind = 'truth', default = 'true',
   help = 'false: no network. Only Unix domain sockets can be created.'},
  {path = 'pools[].sandbox.files', kind = 'names', max = 64, expected = '"ro:/PATH", "rw:/PATH" or "rw:scratch"', otherwise = 'all files',
   check = 'check_sandbox_path',
   help = 'The files and directories that handlers can reach; a directory includes all that is in it. ro: read and execute; ' ..
     'rw: also write; rw:scratch: the directory of the task in `runner.scratch`, but not those of other tasks. The system\'s libraries, the plugins, /dev/null and time zones can always be read.'},
  {path = 'pools[].sandbox.syscalls', kind = 'choice', choices = {{'all', '0'}, {'handler', '1'}}, ctype = 'int', default = 'all',
   help = 'handler: system calls that no handler needs fail, such as mount, ptrace, bpf and unshare.'},

  {path = 'handlers', kind = 'groups', otherwise = 'none',
   help = 'Options that override those of the handlers of a type. Options of a task have precedence over them.'},
  {path = 'handlers[].type', kind = 'text', required = true, unique = true, check = 'check_type_pattern',
   expected = 'a type (1 to 100 of A-Z a-z 0-9 . _ - : /)',
   help = 'The type of the handler, or its pattern, such as "mail.*". A plugin must have a handler with exactly this ' ..
     'type or pattern.'},
  {path = 'handlers[].attempts', kind = 'whole', min = 1, max = 1000000,
   otherwise = 'the handler\'s, else the queue\'s, else 20',
   help = 'Number of failed attempts after which a task dies.'},
  {path = 'handlers[].max_crashes', kind = 'whole', min = 1, max = 1000000,
   otherwise = 'the handler\'s, else the queue\'s, else 3',
   help = 'Number of crashes after which a task dies.'},
  {path = 'handlers[].retry_for', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the handler\'s, else the queue\'s, else no limit',
   help = 'How long after its enqueue a task is retried: a later failure is final.'},
  {path = 'handlers[].max_snoozes', kind = 'whole', min = 1, max = 1000000,
   otherwise = 'the handler\'s, else the queue\'s, else no limit',
   help = 'Number of times that the handler may snooze a task; the next time the task dies.'},
  {path = 'handlers[].timeout', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the handler\'s, else the queue\'s, else none', help = 'The run time limit of an attempt.'},
  {path = 'handlers[].heartbeat', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the handler\'s, else none',
   help = 'The heartbeat limit: an attempt fails if its handler calls none of reeve_task_heartbeat, _extend, _progress, ' ..
     '_checkpoint and _log for this time.'},
  {path = 'handlers[].at_most_once', kind = 'truth', default = 'false',
   help = 'true: record tasks as completed before they run, so that they never run twice.'},
  {path = 'handlers[].backoff', kind = 'backoff', otherwise = 'the handler\'s, else the queue\'s'},
  {path = 'handlers[].batch_size', kind = 'whole', min = 1, max = 'REEVE_BATCH_SIZE_MAX',
   otherwise = 'the handler\'s, else 64',
   help = 'Maximum number of tasks in one call of a batch handler. It applies instead of the `batch` of the pool.'},
  {path = 'handlers[].batch_wait', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the handler\'s, else none',
   help = 'How long a thread collects tasks for one call of a batch handler. By default it does not wait, and the call ' ..
     'gets the tasks that the thread has leased.'},

  {path = 'queues', kind = 'groups', otherwise = 'none',
   help = 'Settings of queues. The worker writes them to Redis when it starts. They apply to all workers.'},
  {path = 'queues[].name', kind = 'text', required = true, unique = true, check = 'check_queue',
   expected = 'a queue name (1 to 64 of A-Z a-z 0-9 . _ -)', help = 'The queue. A pool need not serve it.'},
  {path = 'queues[].partitions', kind = 'whole', min = 1, max = 64, otherwise = 'as it is, at first 1',
   help = 'The number of partitions, which are in different hash slots of a Redis Cluster (docs/partitions.md). If the queue has ' ..
     'had tasks, the worker only begins the change; complete it with `reeve partition QUEUE NUMBER`.'},
  {settings = true}, -- the rows of settings.lua

  {path = 'limits', kind = 'groups', otherwise = 'none',
   help = 'Limits of types of tasks, and of limit keys. The worker writes them to Redis when it starts, and they apply to all workers. ' ..
     'The limits of a type or key that is no longer in the list stay until `reeve limit QUEUE --type TYPE --forget` or `--key KEY --forget`.'},
  {path = 'limits[].queue', kind = 'text', required = true, check = 'check_queue',
   expected = 'a queue name (1 to 64 of A-Z a-z 0-9 . _ -)', help = 'The queue of the tasks.'},
  {path = 'limits[].type', kind = 'text', check = 'check_type', otherwise = 'none: `key` is set',
   expected = 'a type (1 to 100 of A-Z a-z 0-9 . _ - : /)', help = 'The type of the tasks. Set either `type` or `key`.'},
  {path = 'limits[].key', kind = 'text', check = 'check_limit_key', otherwise = 'none: `type` is set',
   expected = '1 to 100 bytes of UTF-8', help = 'The limit key of the tasks.'},
  {path = 'limits[].concurrency', kind = 'whole', min = 1, max = 1000000000, forever = true, otherwise = 'as stored in Redis',
   help = 'The maximum number of tasks of the type, or with the key, that run at the same time. -1: no limit.'},
  {path = 'limits[].rate', kind = 'rate', help = 'The maximum number of tasks of the type, or with the key, that start in a period.'},

  {path = 'cron', kind = 'groups', otherwise = 'none',
   help = 'Recurring entries. They are written to Redis when the worker starts. An entry that does not ' ..
     'change keeps its next slot, and a paused one stays paused. An entry that is no longer in ' ..
     'the file stays in Redis until `reeve cron remove QUEUE/NAME`.'},
  {path = 'cron[].name', kind = 'text', required = true, check = 'check_queue',
   expected = '1 to 64 of A-Z a-z 0-9 . _ -',
   help = 'The name, unique among all entries of the namespace. If another queue has an entry of this name, the entry is ' ..
     'moved, and the worker logs that (program.cron_moved).'},
  {path = 'cron[].spec', kind = 'text', required = true, check = 'check_spec',
   expected = 'a schedule such as "0 3 * * *", "@hourly" or "every 90s"',
   help = 'The schedule. Five fields: minute hour day month weekday; or six fields: second minute hour day month weekday; or a shorthand ' ..
     'such as @daily; or an interval. `reeve cron next SPEC` prints the slots.'},
  {path = 'cron[].queue', kind = 'text', required = true, check = 'check_queue',
   expected = 'a queue name (1 to 64 of A-Z a-z 0-9 . _ -)',
   help = 'The queue of its tasks. The entry fires while a worker serves the queue.'},
  {path = 'cron[].type', kind = 'text', required = true, check = 'check_type',
   expected = 'a type (1 to 100 of A-Z a-z 0-9 . _ - : /)', help = 'The type of its tasks.'},
  {path = 'cron[].payload', kind = 'text', check = 'check_anything', expected = 'a text', otherwise = 'empty',
   help = 'The payload of its tasks.'},
  {path = 'cron[].zone', kind = 'text', check = 'check_zone', expected = 'utc, local or a time zone such as Europe/Berlin',
   default = 'utc',
   help = 'The time zone of the spec: utc; local, that of the workers; or a name of the tz database of the system. If a clock change skips the time of a slot, the entry fires right ' ..
     'after the change; if it repeats that time, the entry fires once. An entry whose hour field is * ignores ' ..
     'clock changes: it fires in each hour of elapsed time.'},
  {path = 'cron[].catch_up', kind = 'choice', ctype = 'reeve_catch_up',
   choices = {{'once', 'REEVE_CATCH_UP_ONCE'}, {'skip', 'REEVE_CATCH_UP_SKIP'}, {'all', 'REEVE_CATCH_UP_ALL'}},
   default = 'once',
   help = 'What to do about slots that were missed by more than 2 s, usually because no worker was running. once: enqueue ' ..
     'one task, for the last of them; skip: enqueue no task; all: enqueue a task for each of them.'},
  {path = 'cron[].catch_up_max', kind = 'whole', min = 1, max = 'REEVE_CRON_CATCH_UP_MAX',
   otherwise = '100 with catch_up = "all"', help = 'With catch_up = "all": enqueue tasks only for this many of the last missed slots.'},
  {path = 'cron[].overlap', kind = 'truth', default = 'true',
   help = 'false: skip a slot while the task of the previous slot has not ended.'},
  {path = 'cron[].starts', kind = 'text', check = 'check_time', expected = 'a time such as 2026-12-01T00:00:00Z', otherwise = 'no limit',
   help = 'No slot is before this time, as RFC 3339.'},
  {path = 'cron[].ends', kind = 'text', check = 'check_time', expected = 'a time such as 2026-12-31T23:59:59Z', otherwise = 'no limit',
   help = 'No slot is after this time.'},
  {path = 'cron[].offset', kind = 'seconds', min = 0, max = 31622400, default = '0',
   help = 'For an interval: the slots are the multiples of the interval since the epoch, plus this time.'},
  {path = 'cron[].jitter', kind = 'seconds', min = 0, max = 3600, default = '0',
   help = 'The entry fires after a random delay of up to this time, for each slot, so that entries with the same spec do not fire together.'},
  {path = 'cron[].runs', kind = 'whole', min = 1, max = 1000000000, otherwise = 'no limit',
   help = 'The entry stops when it has enqueued this many tasks since it was added or changed.'},
  {path = 'cron[].priority', kind = 'whole', min = 'REEVE_PRIORITY_MIN', max = 'REEVE_PRIORITY_MAX', default = '0',
   help = 'The priority of its tasks; lower runs sooner.'},
  {path = 'cron[].group', kind = 'text', check = 'check_group', expected = '1 to 100 bytes of UTF-8',
   otherwise = 'none', help = 'The group of its tasks. Tasks of different groups alternate.'},
  {path = 'cron[].weight', kind = 'whole', min = 1, max = 256, otherwise = '1',
   help = 'The weight of the group: a group with 2 starts twice as many tasks as a group with 1. Only with a group.'},
  {path = 'cron[].cost', kind = 'whole', min = 1, max = 'REEVE_COST_MAX', otherwise = '1',
   help = 'Units of the rate limits that each start of a task takes.'},
  {path = 'cron[].limit_keys', kind = 'names', max = 8, expected = 'a limit key', otherwise = 'none',
   help = 'The limit keys of its tasks: limits of each of them count the tasks.'},
  {path = 'cron[].attempts', kind = 'whole', min = 1, max = 1000000,
   otherwise = 'the handler\'s, else the queue\'s, else 20',
   help = 'Number of failed attempts after which a task dies.'},
  {path = 'cron[].max_crashes', kind = 'whole', min = 1, max = 1000000,
   otherwise = 'the handler\'s, else the queue\'s, else 3',
   help = 'Number of crashes after which a task dies.'},
  {path = 'cron[].retry_for', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the handler\'s, else the queue\'s, else no limit',
   help = 'How long after its enqueue a task is retried: a later failure is final.'},
  {path = 'cron[].max_snoozes', kind = 'whole', min = 1, max = 1000000,
   otherwise = 'the handler\'s, else the queue\'s, else no limit',
   help = 'Number of times that the handler may snooze a task; the next time the task dies.'},
  {path = 'cron[].keep', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the retention of the queue',
   help = 'How long the record of a task, with its result, is kept after it has completed.'},
  {path = 'cron[].timeout', kind = 'seconds', min = 0.001, max = 2000000000,
   otherwise = 'the handler\'s, else the queue\'s, else none', help = 'The run time limit of an attempt.'},
  {path = 'cron[].backoff', kind = 'backoff', otherwise = 'the handler\'s, else the queue\'s'},
  {path = 'cron[].tags', kind = 'names', max = 256, expected = 'a tag', otherwise = 'none',
   help = 'The tags of its tasks.'},
  {path = 'cron[].meta', kind = 'names', max = 64, expected = 'KEY=VALUE', otherwise = 'none',
   help = 'The metadata of its tasks.'},
  {path = 'cron[].expires_in', kind = 'seconds', min = 0.001, max = 2000000000, otherwise = 'none',
   help = 'A task dies if its first attempt has not begun this long after the enqueue.'},
  {path = 'cron[].heartbeat', kind = 'seconds', min = 0.001, max = 2000000000, otherwise = 'the handler\'s, else none',
   help = 'The heartbeat limit: an attempt fails if its handler calls none of reeve_task_heartbeat, _extend, _progress, ' ..
     '_checkpoint and _log for this time.'},
  {path = 'cron[].at_most_once', kind = 'truth', default = 'false',
   help = 'true: a task is recorded as completed before it runs, so that it never runs twice.'},
  {path = 'cron[].on_dead', kind = 'text', check = 'check_on_dead',
   expected = 'a type (1 to 100 of A-Z a-z 0-9 . _ - : /), or "" for none', otherwise = 'the queue\'s',
   help = 'The type of a task to enqueue when a task dies; "": none.'},

  {path = 'web', kind = 'group', help = 'The worker serves the dashboard and the API over HTTP, as `reeve web` does.'},
  {path = 'web.listen', kind = 'text', check = 'check_listen', expected = 'HOST:PORT or unix:PATH', otherwise = 'none: it is not served',
   help = 'The address to listen on. Without `users`, `token_file` and `user_header` it must be the loopback address or a unix socket.'},
  {path = 'web.prefix', kind = 'text', check = 'check_prefix', expected = 'a path such as "/reeve"', default = '',
   help = 'The beginning of all paths, if a proxy forwards only paths that begin so.'},
  {path = 'web.host', kind = 'text', check = 'check_anything', expected = 'a name', otherwise = 'only localhost',
   help = 'A further name by which browsers may reach this server. localhost is always allowed.'},
  {path = 'web.users', kind = 'text', check = 'check_anything', expected = 'a file', otherwise = 'nobody logs in',
   help = 'Users who can log in, a line each: NAME:ROLE:HASH.'},
  {path = 'web.token_file', kind = 'text', check = 'check_anything', expected = 'a file', otherwise = 'none',
   help = 'Bearer tokens, a line each: NAME:ROLE:TOKEN.'},
  {path = 'web.user_header', kind = 'text', check = 'check_anything', expected = 'the name of a header', otherwise = 'none',
   help = 'The header in which a proxy on this machine sends the name of the authenticated user.'},
  {path = 'web.user_role', kind = 'text', check = 'check_role', expected = 'viewer, operator or admin', otherwise = 'none',
   help = 'With `user_header`: the role of all users that are not in the file `users`.'},
  {path = 'web.cert', kind = 'text', check = 'check_anything', expected = 'a file', otherwise = 'HTTP',
   help = 'Serve HTTPS with this certificate and its chain, PEM. Requires `key`.'},
  {path = 'web.key', kind = 'text', check = 'check_anything', expected = 'a file', otherwise = 'none',
   help = 'The private key of `cert`, PEM, not encrypted.'},
  {path = 'web.canary', kind = 'text', check = 'check_queues', expected = 'names of queues, separated by commas', otherwise = 'none',
   help = 'Measure these queues: send a task through each now and then, which any worker completes. /metrics of this server has ' ..
     'reeve_canary_seconds.'},
  {path = 'web.canary_interval', kind = 'seconds', min = 1, max = 86400, default = '30',
   help = 'The time between two of these tasks of a queue.'},
  {path = 'web.read_only', kind = 'truth', default = 'false', help = 'true: refuse all requests that change something.'},
  {path = 'web.hide_payloads', kind = 'truth', default = 'false', help = 'true: show neither payloads nor results of tasks.'},
  {path = 'web.redact', kind = 'text', check = 'check_redact', expected = 'names of members, separated by commas', otherwise = 'none',
   help = 'Show payloads and results without the values of these members of JSON, such as `password, card.*`.'},

  {path = 'metrics', kind = 'group', help = 'The worker serves its own metrics for Prometheus.'},
  {path = 'metrics.listen', kind = 'text', check = 'check_listen', expected = 'HOST:PORT or unix:PATH', otherwise = 'none: they are not served',
   help = 'The address to listen on: /metrics, /healthz and /readyz. There is no authentication, and the metrics ' ..
     'contain names of queues and types.'},
}
