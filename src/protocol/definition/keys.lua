-- The keys of a queue. Each name follows the prefix of the queue; a name with <...> stands for many keys.
--   name, type
--   holds     the member or field, and its score or value; of a list, its elements
--   writers   which scripts add to it; "all" are those that reschedule tasks
--   model     false: the randomised test does not reach it, with the reason
--   unchecked why scripts do not look at the type of this key before they write (lib/types.lua), where they do not
--   help
return {
  {section = 'Tasks and states'},
  {name = 'tasks', type = 'hash', holds = 'id: envelope', writers = 'enqueue, all', help = 'every task that exists, in any state'},
  {name = 'ready', type = 'zset', holds = 'id, or `+<p>`: score', writers = 'enqueue, all',
    help = 'the order in which tasks are leased; `+<p>` stands for a packet, see Order'},
  {name = 'scheduled', type = 'zset', holds = 'id: time', writers = 'enqueue, turn, reschedule, maintain',
    help = 'when the task becomes ready, see Equal times; also a failed task that waits for its next attempt'},
  {name = 'blocked', type = 'zset', holds = 'id: time', writers = 'enqueue, depend, retry', help = 'tasks that wait for parents, and since when'},
  {name = 'running:<session>', type = 'hash', holds = 'id: lease (`<since ms> <thread>`)', writers = 'turn, enqueue',
    help = 'what a session holds. `#` is the description of the session, `#flushed` the number of its last flush of statistics, '
      .. '`#suspect` the last task with two or more crashes that it leased, and how that runs: `<id>` not begun, `<id> alone`, '
      .. '`<id> beside`. Other fields that begin with `#` belong to other versions: they are no leases, and go with the session'},
  {name = 'lost:<session>', type = 'hash', holds = 'id: lease', writers = 'maintain', help = 'the leases of a dead session while it is reaped'},
  {name = 'sessions', type = 'zset', holds = 'session: expiry', writers = 'turn, heartbeat, maintain', help = '0 while the session is reaped'},
  {name = 'completed', type = 'zset', holds = 'id: time', writers = 'turn', help = 'completed tasks, and when they ended'},
  {name = 'dead', type = 'zset', holds = 'id: time', writers = 'turn, maintain, all that end parents', help = 'dead tasks, and when they died'},
  {name = 'cancelled', type = 'zset', holds = 'id: time', writers = 'cancel, bulk_update, turn, end_session, maintain', help = 'cancelled tasks, and when they ended'},
  {name = 'retained', type = 'zset', holds = 'id: time', writers = 'turn, maintain',
    help = 'completed tasks that are past their retention and still have readers, and when they ended'},
  {name = 'info:<id>', type = 'hash', holds = 'field: value', writers = 'all', help = 'what a task has beyond its envelope; most tasks have none. Its fields are below'},
  {name = 'deadlines', type = 'zset', holds = 'id: time', writers = 'enqueue, turn, end_session', help = 'the time by which a task must have begun, while it has not begun'},
  {name = 'unique:<key>', type = 'string', holds = 'id', writers = 'enqueue, retry', help = 'the task that holds this unique key; it has an expiry only when the key is held for a time'},
  {name = 'once:<session>', type = 'hash', holds = 'id: unique key', writers = 'turn',
    help = 'tasks that run at most once: they are completed, and their handlers have not returned'},

  {section = 'Records of ended tasks'},
  {name = 'results', type = 'hash', holds = 'id: result; `+<ms>`: result block', writers = 'turn',
    help = 'results of completed tasks. A result has a field of its own, or is part of the block of all tasks that ended in this millisecond'},
  {name = 'bundles', type = 'zset', holds = '`<ms>`: `<ms>`', writers = 'turn', help = 'the result blocks in `results`'},
  {name = 'result_sizes', type = 'hash', holds = 'id: bytes', writers = 'turn, maintain',
    help = 'the size of each result, while `completed_bytes` is set; `#` is their sum, `@` how far tasks that had ended before are counted'},
  {name = 'noted', type = 'set', holds = 'id', writers = 'turn', help = 'completed tasks that have `info:<id>` or `parents:<id>`'},
  {name = 'failures', type = 'zset', holds = 'kind: time', writers = 'all that make tasks dead', help = 'the kinds of errors of the tasks in `dead`, and when a task last died of each'},
  {name = 'failures:<kind>', type = 'zset', holds = 'id: time', writers = 'all that make tasks dead', help = 'the tasks in `dead` that died of this kind'},

  {section = 'Order'},
  {name = 'order', type = 'hash', holds = 'priority: last score without a group', writers = 'enqueue, turn, maintain',
    help = '`groups` is set while groups are in use, `events` while there are events; `next` replaces the field `0` while a plain task '
      .. 'takes the next number, see Waking up; `packet` is the newest packet, `<p> <score of its last task>`, which may be used up; '
      .. '`epoch` changes when the scores begin again'},
  {name = 'groups', type = 'zset', holds = '`<priority>:<group>`: score', writers = 'enqueue, all',
    help = 'the last score of a group; `<priority>;<group>`, with a semicolon, is the last score at which a parked task was unparked'},
  {name = 'packets', type = 'set', holds = '`<p>`', writers = 'enqueue', help = 'all packets'},
  {name = 'packet:<p>', type = 'list', holds = 'id', writers = 'enqueue', help = 'the tasks of a packet, in order'},
  {name = 'laid:<p>', type = 'string', holds = '`1`', writers = 'clients', model = false,
    help = 'prevents that tasks of this packet are bulk-inserted late; expires after an hour'},

  {section = 'Limits'},
  {name = 'parked', type = 'zset', holds = 'id: place', writers = 'turn', help = 'ready tasks whose group is paused or at a limit, and the scores with which they came'},
  {name = 'parked:<group>', type = 'zset', holds = 'id: place', writers = 'turn', help = 'the same, of one group'},
  {name = 'holders:<group>', type = 'zset', holds = 'id: place', writers = 'turn',
    help = 'parked tasks of a strict group that kept its slot: they start before all others of the group'},
  {name = 'called:<group>', type = 'zset', holds = 'id: place', writers = 'turn, maintain, end_session', help = 'tasks of the group that are in `ready` again, after they were parked or given back'},
  {name = 'opening', type = 'zset', holds = 'group: time', writers = 'turn, maintain, limit, hold',
    help = 'when `maintain` looks at a group with parked or unparked tasks; LATEST: when one of its tasks ends'},
  {name = 'reopening', type = 'zset', holds = 'group: time', writers = 'limit, hold, maintain', help = 'groups that `maintain` looks at because limits have changed'},
  {name = 'limits', type = 'hash', holds = '`c:<group>`, `r:<group>`, `s:<group>`', writers = 'limit',
    help = "a group's own concurrency (-1: unlimited), rate (empty: unlimited) and strictness (`1` or `0`)"},
  {name = 'limited', type = 'zset', holds = 'group: 0', writers = 'limit', help = 'the groups with limits of their own, sorted by name'},
  {name = 'gate', type = 'hash', holds = '`running`, `tat`, `opens`, `counting`', writers = 'turn, maintain, limit',
    help = "while limits are in force: how many tasks run, the clock of the queue's rate, when the rate permits the next start, "
      .. 'and how far tasks are counted that ran before the limit was set'},
  {name = 'slots', type = 'hash', holds = 'id: group', writers = 'turn, limit, maintain',
    help = 'tasks that count for the concurrency of their group: those that run, and those of strict groups that have started and wait'},
  {name = 'taken', type = 'hash', holds = 'group: count', writers = 'turn, limit, maintain', help = 'how many tasks in `slots` each group has'},
  {name = 'rates', type = 'zset', holds = 'group: time', writers = 'turn', help = "the clock of the group's rate"},
  {name = 'holds', type = 'zset', holds = 'group: time', writers = 'hold', help = 'no task of the group starts before this time'},

  {section = 'Dependencies'},
  {name = 'parents:<id>', type = 'hash', holds = 'handle: edge', writers = 'enqueue, depend', help = 'the parents of a task: `<policy><end><place> <number>`, see Tasks that wait for others'},
  {name = 'children:<id>', type = 'zset', holds = 'handle: number', writers = 'enqueue, depend, link', help = 'tasks that wait for the end of this one, and the numbers of the edges'},
  {name = 'patient:<id>', type = 'zset', holds = 'handle: number', writers = 'enqueue, depend, link', help = 'tasks that wait for its completion only'},
  {name = 'linked', type = 'set', holds = 'id', writers = 'enqueue, depend, link', help = 'tasks that have such children'},
  {name = 'heir:<id>', type = 'string', holds = 'id', writers = 'enqueue', help = 'the task that replaced this one; expires after a day where this one had children in other queues, else after five minutes'},
  {name = 'reads:<id>', type = 'zset', holds = 'handle: number', writers = 'turn, deliver',
    help = 'completed parents whose results this task may read; 0, or the number of the message `R` for a parent in another queue'},
  {name = 'readers:<id>', type = 'zset', holds = 'handle: number', writers = 'turn, link, depend', help = 'tasks that may read the result of this one; `#<n>`: some of those in `fanout:<n>` will'},
  {name = 'read', type = 'set', holds = 'id', writers = 'turn, link, depend', help = 'tasks that have `readers:<id>`'},
  {name = 'fanout', type = 'list', holds = 'step', writers = 'turn, cancel, delete, maintain',
    help = 'what is still to be told to children, in steps: `<n> <state> <id>` the children in `fanout:<n>` learn that the task ended so '
      .. '(`cascade`: are cancelled); `<key> unlink <id> <cursor>` a child waits no more, and leaves the parents in `<key>` that have not '
      .. 'ended; `<n> restore <id> <cursor>` the edges of a retried child with numbers below `<n>`, or without one, are made again; '
      .. '`<n> unread <id>` the task does not read the results of those in `fanout:<n>` any more'},
  {name = 'fanout:<n>', type = 'zset', holds = 'handle: number', writers = 'turn, cancel, delete, maintain', help = 'the children of such a step'},
  {name = 'fanout_far', type = 'list', holds = 'step', writers = 'maintain, fan', model = false,
    help = 'steps of which only the part for other queues is left, while there are 1000 messages or more. '
      .. '(A step in `fanout` with such a part has a fourth word: the `<n>` here, or a `~` after its cursor)'},
  {name = 'outbox', type = 'list', holds = 'message', writers = 'all', help = 'messages to other queues in the order of their numbers, see the head of outbox.lua'},
  {name = 'unread', type = 'list', holds = 'message', writers = 'outbox', help = 'the last 1000 messages that no carrier understood, in order; the log names them (`outbox.unread`), and each worker asks once to put them back'},
  {name = 'received:<queue>', type = 'zset', holds = 'message: number', writers = 'link, deliver, enqueue',
    help = 'messages of that queue that were received: `<number>`; `<number> <answer>`, of an `R` that was answered; `U <child> <id>`, '
      .. 'the number of the last such message; `floor`, the lowest number in its `outbox` and `unread`. Expires 30 days after the last message'},

  {section = 'Idle threads and waiters'},
  {name = 'wake', type = 'list', holds = 'token', writers = 'all', help = 'at most one token; threads that wait and are not in `idle` block here'},
  {name = 'idle', type = 'list', holds = '`<session>:<thread>`', writers = 'turn', help = 'threads that found no task and wait to be handed one, the last one first; empty while there is a token'},
  {name = 'rousing', type = 'list', holds = '`<session>:<thread>`', writers = 'pause, limit, all that wake', model = false,
    help = 'threads that left `idle` because the queue was paused or limited, or because a hundred others were gone, and that `maintain` wakes'},
  {name = 'hand:<session>:<thread>', type = 'list', holds = 'item', writers = 'enqueue, all that wake',
    help = 'what such a thread blocks on: `<ms> <id>`, a newline and the envelope of a task that was leased to it at that time; or an empty item: poll the queue'},
  {name = 'woken:<session>', type = 'set', holds = '`<session>:<thread>`', writers = 'all that wake', help = 'threads of the session that received an empty item'},
  {name = 'waiters', type = 'zset', holds = 'id: time', writers = 'wait', help = 'tasks that a client waits for, and until when'},

  {section = 'Settings, numbers, indexes'},
  {name = 'settings', type = 'hash', holds = 'name: value', writers = 'settings, limit, events, pause, hold, many', help = 'the settings of the queue, and what scripts record for each other, see below'},
  {name = 'counters', type = 'hash', holds = 'name: count', writers = 'turn, end_session, maintain',
    help = '`completed`, `failed` (attempts), `dead`, `crashed` since the queue began. They are exact: the script that accepts an outcome counts it'},
  {name = 'stats:<day>', type = 'hash', holds = 'name: sum', writers = 'heartbeat, maintain', help = 'the work of a day (days since the epoch, UTC), see Statistics; expires'},
  {name = 'events', type = 'stream', holds = 'event', writers = 'all', unchecked = 'tasks go on without events', help = 'what happened to tasks, while events are on'},
  {name = 'tags', type = 'zset', holds = 'tag: time', writers = 'enqueue', help = 'the tags in use, and when each was last given'},
  {name = 'tag:<tag>', type = 'zset', holds = 'id: time', writers = 'enqueue', help = 'tasks with this tag in any state, and when they were enqueued, see Equal times'},

  {section = 'Recurring entries'},
  {name = 'cron', type = 'hash', holds = 'name: definition', writers = 'cron', help = 'the recurring entries of the queue'},
  {name = 'cron:due', type = 'zset', holds = 'name: time', writers = 'cron, fire', help = 'when an entry is due, or is to be looked at; a paused entry is not in here'},
  {name = 'cron:last', type = 'hash', holds = 'name: id', writers = 'fire', help = 'the last task that the entry enqueued'},
}
