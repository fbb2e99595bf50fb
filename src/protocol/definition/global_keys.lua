-- The keys and channels of a namespace; `reeve` is the namespace.
return {
  {name = 'reeve:queues', type = 'set', holds = 'queue', writers = 'clients, workers', help = 'the queues that had a task or a worker, until `forget`'},
  {name = 'reeve:workers', type = 'set', holds = 'worker', writers = 'workers', help = 'the workers'},
  {name = 'reeve:worker:<id>', type = 'string', holds = 'JSON', writers = 'workers', help = 'the record of a worker; expires when its heartbeats stop'},
  {name = 'reeve:crashes', type = 'list', holds = 'JSON', writers = 'supervisors of workers, workers with runners', help = 'the last 100 crashes of supervised workers and of runners, the latest first'},
  {name = 'reeve:cron', type = 'hash', holds = 'name: queue', writers = 'clients', help = 'the queue of each recurring entry'},
  {name = 'reeve:format', type = 'string', holds = 'version', writers = 'clients, workers', help = 'the version of the data, see Format; absent: 1'},
  {name = 'reeve:control', type = 'channel', holds = '`due <queue> <ms>`, `cancel <queue> <id> <reason>`, `revoke <queue> <id> <lease>`, `breaker_opened <queue> <until ms> <group>`, `breaker_closed <queue> <ms> <group>`', writers = 'scripts',
    help = 'notifies all workers that something is due earlier than they know, that a running task was cancelled, or that a circuit breaker opened or closed'},
  {name = 'reeve:alive:<worker>', type = 'channel', holds = '`ask <request> <words>`', writers = 'clients',
    help = 'each worker subscribes to its own channel; a subscriber exists while the process is alive. A message asks the worker for something, see `reeve_ask_workers`'},
  {name = 'reeve:answer:<request>', type = 'list', holds = '`<worker> ok <text>` or `<worker> refused <text>`', writers = 'workers',
    help = 'the answers to a request; expires after a minute'},
  {name = '<prefix>done:<id>', type = 'channel', holds = 'state', writers = 'scripts', help = 'the final state of a task, for clients that wait for it'},
}
