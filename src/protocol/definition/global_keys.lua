-- The keys and channels of a namespace; `reeve` is the namespace.
return {
  {name = 'reeve:queues', type = 'set', holds = 'queue', writers = 'clients, workers', help = 'the queues that ever had a task or a worker'},
  {name = 'reeve:workers', type = 'set', holds = 'worker', writers = 'workers', help = 'the workers'},
  {name = 'reeve:worker:<id>', type = 'string', holds = 'JSON', writers = 'workers', help = 'the record of a worker; expires when its heartbeats stop'},
  {name = 'reeve:cron', type = 'hash', holds = 'name: queue', writers = 'clients', help = 'the queue of each recurring entry'},
  {name = 'reeve:format', type = 'string', holds = 'version', writers = 'clients, workers', help = 'the version of the data, see Format; absent: 1'},
  {name = 'reeve:control', type = 'channel', holds = '`due <queue> <ms>`, `cancel <queue> <id>`', writers = 'scripts',
    help = 'to all workers: something is due earlier than was known, or a running task was cancelled'},
  {name = 'reeve:alive:<worker>', type = 'channel', holds = 'nothing', writers = 'nobody',
    help = 'each worker subscribes to its own; the number of subscribers tells whether the process is alive'},
  {name = '<prefix>done:<id>', type = 'channel', holds = 'state', writers = 'scripts', help = 'the final state of a task, for clients that wait for it'},
}
