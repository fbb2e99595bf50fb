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
    help = 'the order in which tasks are leased; `+<p>` stands for a segment, see Order'},
  {name = 'scheduled', type = 'zset', holds = 'id: time', writers = 'enqueue, turn, reschedule, maintain',
    help = 'when the task becomes ready, see Equal times; also a failed task that waits for its next attempt'},
  {name = 'blocked', type = 'zset', holds = 'id: time', writers = 'enqueue, depend, retry', help = 'tasks that wait for parents, and the time since which each waits'},
  {name = 'running:<session>', type = 'hash', holds = 'id: lease (`<since ms> <thread>`)', writers = 'begin_session, turn, enqueue',
    help = 'the leases of a session. `#`: the description of the session; `#flushed`: the number of its last flush of statistics; '
      .. '`#suspect`: the last task with two or more crashes that it leased: `<id>` (its handler has not begun), `<id> alone` (no other '
      .. 'task runs in the worker) or `<id> beside` (others may run). Other fields that begin with `#` belong to other versions: they '
      .. 'are no leases, and are deleted with the session'},
  {name = 'lost:<session>', type = 'hash', holds = 'id: lease', writers = 'reap', help = 'the leases of a dead session, while `reap` recovers its tasks'},
  {name = 'sessions', type = 'zset', holds = 'session: expiry', writers = 'begin_session, heartbeat, maintain, end_session, reap', help = 'the sessions that lease from the queue, and when each expires; 0 while `reap` recovers its tasks'},
  {name = 'completed', type = 'zset', holds = 'id: time', writers = 'turn', help = 'completed tasks, and when they ended'},
  {name = 'dead', type = 'zset', holds = 'id: time', writers = 'turn, maintain, all that end parents', help = 'dead tasks, and when they died'},
  {name = 'cancelled', type = 'zset', holds = 'id: time', writers = 'cancel, bulk_update, turn, end_session, reap, maintain', help = 'cancelled tasks, and when they ended'},
  {name = 'retained', type = 'zset', holds = 'id: time', writers = 'turn, maintain',
    help = 'completed tasks that are past the retention of the queue, and still have readers or a retention of their own (`keep`); and when they ended'},
  {name = 'info:<id>', type = 'hash', holds = 'field: value', writers = 'all', help = 'further fields of a task; most tasks have none. The next table lists them'},
  {name = 'deadlines', type = 'zset', holds = 'id: time', writers = 'enqueue, turn, end_session', help = 'tasks with a deadline that have not begun, and the deadline'},
  {name = 'unique:<key>', type = 'string', holds = 'id', writers = 'enqueue, retry', help = 'the task that holds this unique key; expires only if the task holds the key for a time'},
  {name = 'once:<session>', type = 'hash', holds = 'id: unique key', writers = 'turn',
    help = 'tasks that run at most once: already completed, but their handlers have not returned'},

  {section = 'Records of ended tasks'},
  {name = 'results', type = 'hash', holds = 'id: result; `+<ms>`: result block', writers = 'turn',
    help = 'results of completed tasks. A result has a field of its own, or is part of the result block of tasks that ended in this millisecond'},
  {name = 'result_blocks', type = 'zset', holds = '`<ms>`: `<ms>`', writers = 'turn', help = 'the result blocks in `results`'},
  {name = 'result_sizes', type = 'hash', holds = 'id: bytes', writers = 'turn, maintain',
    help = 'the size of each result, while `completed_bytes` is set; `#`: the sum of all sizes; `@`: the cursor with which `maintain` counts the results that are older than the setting'},
  {name = 'completed_extra', type = 'set', holds = 'id', writers = 'turn', help = 'completed tasks that have `info:<id>` or `parents:<id>`'},
  {name = 'keep_until', type = 'zset', holds = 'id: time', writers = 'turn, maintain, retry', help = 'completed tasks with a retention of their own (`keep`), and until when each is kept. Each has the member `@` in `readers:<id>`'},
  {name = 'failures', type = 'zset', holds = 'kind: time', writers = 'all that make tasks dead', help = 'the error kinds of the tasks in `dead`, and when a task last died with each'},
  {name = 'failures:<kind>', type = 'zset', holds = 'id: time', writers = 'all that make tasks dead', help = 'the tasks in `dead` that died with this kind'},

  {section = 'Order'},
  {name = 'sequence', type = 'hash', holds = 'priority: last score without a group', writers = 'enqueue, turn, maintain, reap',
    help = 'the last score of each priority. `groups`: set while groups are in use; `events`: set while the queue keeps events; `payload_max`: the setting, while it is set; `next`: '
      .. 'replaces the field `0` while a plain task takes the next number, see Waking up; `segment`: the newest segment, '
      .. '`<p> <score of its last task>`, which may be empty by now; `epoch`: changes when the scores begin at SCORE_START again'},
  {name = 'groups', type = 'zset', holds = '`<priority>:<group>`: score', writers = 'enqueue, all',
    help = 'the last score of a group; `<priority>;<group>`, with a semicolon, is the last score at which a parked task was unparked'},
  {name = 'segments', type = 'set', holds = '`<p>`', writers = 'enqueue', help = 'all segments'},
  {name = 'segment:<p>', type = 'list', holds = 'id', writers = 'enqueue', help = 'the tasks of a segment, in order'},
  {name = 'bulk_closed:<p>', type = 'string', holds = '`1`', writers = 'clients', model = false,
    help = 'prevents a late bulk insert of this segment; expires after an hour'},

  {section = 'Limits'},
  {name = 'parked', type = 'zset', holds = 'id: place', writers = 'turn', help = 'tasks that would be ready, but their group is paused or at a limit, or their type is at a limit; and the scores that they had in `ready`'},
  {name = 'parked:<group>', type = 'zset', holds = 'id: place', writers = 'turn', help = 'the same, of one group'},
  {name = 'parked_first:<group>', type = 'zset', holds = 'id: place', writers = 'turn',
    help = 'parked tasks of a strict group that still hold a slot of the group: they start before all other tasks of the group'},
  {name = 'unparked:<group>', type = 'zset', holds = 'id: place', writers = 'turn, maintain, end_session, reap', help = 'tasks of the group that returned to `ready` after they were parked or given back'},
  {name = 'limit_due', type = 'zset', holds = 'group: time', writers = 'turn, maintain, limit, pause_for',
    help = 'groups with parked or unparked tasks, and when `maintain` checks each. LATEST means at no time, because the '
      .. 'script that ends a task of the group checks it'},
  {name = 'limit_dirty', type = 'zset', holds = 'group: time', writers = 'limit, pause_for, maintain', help = 'groups that `maintain` checks because limits have changed'},
  {name = 'limits', type = 'hash', holds = '`c:<group>`, `r:<group>`, `s:<group>`', writers = 'limit',
    help = "a group's own concurrency (-1: unlimited), rate (empty: unlimited) and strictness (`1` or `0`)"},
  {name = 'limited', type = 'zset', holds = 'group: 0', writers = 'limit', help = 'the groups with limits of their own, sorted by name'},
  {name = 'limit_state', type = 'hash', holds = '`running`, `tat`, `opens`, `counting`, `debt`', writers = 'turn, maintain, reap, limit',
    help = 'exists while limits are in force. `running`: number of running tasks; `tat`: theoretical arrival time (GCRA) of the rate limit; '
      .. '`opens`: when `maintain` checks the queue again; `counting`: the cursor of the count of tasks that ran before the limit was set; '
      .. '`debt`: the largest cost of a task that started under a rate, less 1'},
  {name = 'running_group', type = 'hash', holds = 'id: groups', writers = 'turn, limit, maintain, reap',
    help = 'tasks that count for the concurrency of their group: those that run, and those of strict groups that have started and wait'},
  {name = 'group_running', type = 'hash', holds = 'group: count', writers = 'turn, limit, maintain, reap', help = 'number of tasks of each group in `running_group`'},
  {name = 'rates', type = 'zset', holds = 'group: time', writers = 'turn', help = "state of the group's rate limit: its theoretical arrival time (GCRA)"},
  {name = 'breakers', type = 'hash', holds = '`q`, `g:<group>`: state', writers = 'turn, maintain, settings',
    help = 'circuit breakers of the queue and of groups that are not closed, or that have counted a failure: `c <since> <attempts> <failures>` (closed), `o <ends>` (open), `t <ends> <id>` (half-open: this task tries)'},
  {name = 'paused_groups', type = 'zset', holds = 'group: time', writers = 'pause_for', help = 'no task of the group starts before this time'},

  {section = 'Dependencies'},
  {name = 'parents:<id>', type = 'hash', holds = 'handle: edge', writers = 'enqueue, depend', help = 'the parents of a task: `<policy><end><place> <number>`, with ` e` before the number if the parent is in another queue and need not exist yet; see Tasks that wait for others'},
  {name = 'children:<id>', type = 'zset', holds = 'handle: number', writers = 'enqueue, depend, link', help = 'children of this task with another rule than `wait`, and the numbers of the edges'},
  {name = 'awaiting_retry:<id>', type = 'zset', holds = 'handle: number', writers = 'enqueue, depend, link', help = 'children of this task with the rule `wait`, and the numbers of the edges'},
  {name = 'linked', type = 'set', holds = 'id', writers = 'enqueue, depend, link', help = 'tasks that have `children:<id>` or `awaiting_retry:<id>`'},
  {name = 'replaced_by:<id>', type = 'string', holds = 'id or handle', writers = 'enqueue, move', help = 'the task that replaced this one, or the handle of this one where it was moved to another queue; expires after a day if this one had children in other queues, else after five minutes'},
  {name = 'reads:<id>', type = 'zset', holds = 'handle: number', writers = 'turn, deliver',
    help = 'completed parents whose results this task may read. The number is 0; for a parent in another queue, it is that of the message `R`'},
  {name = 'readers:<id>', type = 'zset', holds = 'handle: number', writers = 'turn, link, depend', help = 'tasks that may read the result of this one. `#<n>`: tasks in `fanout:<n>` may become such readers'},
  {name = 'read', type = 'set', holds = 'id', writers = 'turn, link, depend', help = 'tasks that have `readers:<id>`'},
  {name = 'fanout', type = 'list', holds = 'step', writers = 'turn, cancel, delete, maintain, fan',
    help = 'work on many children or parents of a task, which `maintain` and `fan` do in steps. `<n> <state> <id>`: notify the children in '
      .. '`fanout:<n>` that the task ended in this state; `cascade`: cancel them. `<key> unlink <id> <cursor>`: the child waits no more; '
      .. 'remove its edges to the parents in `<key>` that have not ended. `<n> restore <id> <cursor>`: the child was retried; restore its '
      .. 'edges that have a number below `<n>` or none. `<n> unread <id>`: the task no longer reads the results of the tasks in `fanout:<n>`'},
  {name = 'fanout:<n>', type = 'zset', holds = 'handle: number', writers = 'turn, cancel, delete, maintain, fan', help = 'the tasks of such a step'},
  {name = 'fanout_far', type = 'list', holds = 'step', writers = 'fan', model = false,
    help = 'steps whose part for the own queue is done; the part for other queues waits while `outbox` has 1000 messages or more. '
      .. 'A step in `fanout` that has left out tasks of other queues is marked: its fourth word is the `<n>` of the set '
      .. '`fanout:<n>` with these tasks; or, for `unlink` and `restore`, a `~` follows its cursor'},
  {name = 'outbox', type = 'list', holds = 'message', writers = 'all', help = 'messages to other queues, in the order of their numbers; see the comment at the top of outbox.lua'},
  {name = 'unread', type = 'list', holds = 'message', writers = 'outbox', help = 'the last 1000 messages that a carrier did not understand, in order. The log names them (`outbox.unread`). Each worker asks once to return them to `outbox`, so that a newer version can deliver them'},
  {name = 'received:<queue>', type = 'zset', holds = 'message: number', writers = 'link, deliver, enqueue, arrive',
    help = 'messages that were received from that queue. `<number>`: a message; `<number> <answer>`: an answered `R`; `U <child> <id>`: '
      .. 'the number of the last such message; `floor`: the lowest number in the `outbox` and `unread` of that queue. Expires 30 days after the last message'},

  {section = 'Idle threads and waiters'},
  {name = 'wake', type = 'list', holds = 'token', writers = 'all', help = 'at most one token. Waiting threads that are not in `idle` block on this key'},
  {name = 'idle', type = 'list', holds = '`<session>:<thread>`', writers = 'turn', help = 'threads that found no task and wait for one to be handed over, the last one first; empty while `wake` has a token'},
  {name = 'wake_later', type = 'list', holds = '`<session>:<thread>`', writers = 'pause, limit, all that wake', model = false,
    help = 'threads that `maintain` will wake. They were removed from `idle` because the queue was paused or limited, or because one call had to skip 100 threads that no longer exist'},
  {name = 'hand:<session>:<thread>', type = 'list', holds = 'item', writers = 'enqueue, all that wake',
    help = 'the key on which an idle thread blocks. An item is `<ms> <id>`, a newline and the envelope of a task that was leased to the thread at that time; or it is empty: poll the queue'},
  {name = 'woken:<session>', type = 'set', holds = '`<session>:<thread>`', writers = 'all that wake', help = 'threads of the session that received an empty item'},
  {name = 'waiters', type = 'zset', holds = 'id: time', writers = 'wait', help = 'tasks that a client waits for, and until when it waits'},

  {section = 'Settings, numbers, indexes'},
  {name = 'settings', type = 'hash', holds = 'name: value', writers = 'settings, limit, events, pause, pause_for, many', help = 'the settings of the queue, and values that scripts record for other scripts, see below'},
  {name = 'payload_limited', type = 'string', holds = '`1`', writers = 'settings', help = 'exists while the setting `payload_max` is set: no task is handed over'},
  {name = 'counters', type = 'hash', holds = 'name: count', writers = 'turn, end_session, reap, maintain, delete, bulk_update',
    help = '`completed`, `failed` (attempts), `dead`, `crashed`, `cancelled` since the queue was created. They are exact: the script that accepts an outcome counts it. `enqueued_extra`: number of tasks that were deleted or moved before they ended, minus the number of retries of ended tasks. The number of tasks that were ever enqueued is the sum of `enqueued_extra`, `completed`, `dead`, `cancelled` and the number of tasks that have not ended. `unrecorded`: the last time at which a task was discarded or deleted, or the end of the last task whose record was removed because of its own `keep`: such tasks leave no record'},
  {name = 'stats:<day>', type = 'hash', holds = 'name: sum', writers = 'heartbeat, reap, maintain', help = 'statistics of a day (days since the epoch, UTC), see Statistics; expires'},
  {name = 'minutes:<hour>', type = 'hash', holds = 'minute: numbers', writers = 'heartbeat', help = 'what workers settled in each minute of an hour (hours since the epoch), and the times of each five minutes, see Statistics; expires after a day'},
  {name = 'events', type = 'stream', holds = 'event', writers = 'all', unchecked = 'tasks go on without events', help = 'the events of tasks, while the queue keeps events'},
  {name = 'tags', type = 'zset', holds = 'tag: time', writers = 'enqueue', help = 'the tags in use, and when a task with each was last enqueued'},
  {name = 'tag:<tag>', type = 'zset', holds = 'id: time', writers = 'enqueue', help = 'tasks with this tag in any state, and when they were enqueued, see Equal times'},

  {section = 'Recurring entries'},
  {name = 'cron', type = 'hash', holds = 'name: definition', writers = 'cron', help = 'the recurring entries of the queue'},
  {name = 'cron:due', type = 'zset', holds = 'name: time', writers = 'cron, fire', help = 'when an entry is due, or must be checked; an entry that is paused or has ended is not in this set'},
  {name = 'cron:stopped', type = 'hash', holds = 'name: `paused` or `ended`', writers = 'cron, fire', help = 'why an entry is not in `cron:due`. If neither has the name, an older release removed it from `cron:due`: it counts as ended if its number of runs is reached or its `ends` has passed, else as paused'},
  {name = 'cron:runs', type = 'hash', holds = 'name: count', writers = 'fire', help = 'how many tasks an entry with `runs` has enqueued at its slots since it was set; such an entry has ended when it has reached its number'},
  {name = 'cron:last', type = 'hash', holds = 'name: id', writers = 'fire', help = 'the last task that the entry enqueued'},
}
