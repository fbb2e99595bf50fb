-- The options of a task: one row an option, in the order of the envelope, of the help and of the documents.
--
--   name      of the member of a bulk line; with '-' for '_' that of the flag of `reeve enqueue`
--   kind      whole, span (ms), time (ms), flag, text; or own: its functions do it
--   field     of reeve_task_spec and reeve_task_info; default: the name, for a span or time with _ms behind it
--   type      of the field of a whole number; default: int
--   min, max  of a whole number; min of a span or time; max of a text in bytes. 0 and NULL mean: not set
--   label     what an error calls it; default: the name with blanks
--   argument  of the flag, as the help shows it; default: N, DURATION, TIME, TEXT
--   help      what the option does; its default in parentheses
--   flag      name of the flag where it has one of its own
--   envelope  name in the header of the envelope; default: the name. false: it is not there, but enqueue's script may see it
--   cron      true: `reeve cron add` has the flag, and keeps the value of an entry that exists
--   broadcast false: `reeve broadcast` does not have the flag; it has all others that `reeve cron add` has
--   json      name in the JSON of `show`; default: the field. false: it is not shown, or by code of its own
--   shown     what docs/json.md tells of that member; json_type: its type, where the kind does not tell
--   always    true: shown when it is 0, too
--   view      what `reeve show` calls it; default: the label. false: it is not shown, or by code of its own
--   with      another option that it needs
--   view_text what `reeve show` prints when a flag is set (yes)
--
-- Functions of its own, each beside those of its sort: check and write (spec.c; false: others do it), read (task_options.c: of
-- the flag), bulk (bulk_values.h), keep (cron_keep.c; false: others do it), show (task_json.c), text (task_view.c).
return {
  {name = 'at', kind = 'time', min = 'INT64_MIN', check = 'time', write = 'due', envelope = 'due', json = false, view = false,
    help = 'run the task at this time (RFC 3339, or seconds since the epoch)'},
  {name = 'in', kind = 'span', min = 0, label = 'delay', envelope = 'delay', json = false, view = false,
    help = 'run the task after this delay'},
  {name = 'expires_in', kind = 'span', min = 1, envelope = false, json = false, view = false, cron = true, keep = 'expiry',
    help = 'the task dies if its first attempt has not begun this long after the enqueue'},
  {name = 'deadline', kind = 'time', min = 1, check = 'deadline', envelope = false, json = false, view = false,
    help = 'the task dies if its first attempt has not begun by this time'},
  {name = 'id', kind = 'text', argument = 'ID', check = false, envelope = false, json = false, view = false,
    help = 'id of the task, which no other task of the queue may have (a new UUIDv7)'},
  {name = 'if_exists', kind = 'own', argument = 'WHAT', check = 'if_exists', write = false, envelope = false, read = 'if_exists',
    bulk = 'if_exists', json = false, view = false,
    help = 'what to do if the queue has a task with this id. refuse: report an error; ignore: enqueue nothing; again: replace it if it has ended (refuse)'},
  {name = 'priority', kind = 'whole', min = 'REEVE_PRIORITY_MIN', max = 'REEVE_PRIORITY_MAX', cron = true, always = true,
    help = 'priority from -128 to 127; lower runs sooner (0)', shown = 'lower runs sooner'},
  {name = 'group', kind = 'text', argument = 'G', check = false, cron = true, broadcast = false, keep = 'group',
    help = 'group of the task; tasks of different groups alternate (no group)', shown = 'null: no group'},
  {name = 'weight', kind = 'whole', type = 'unsigned', min = 1, max = 256, check = 'weight', write = 'weight', with = 'group', cron = true, broadcast = false, keep = false, always = true,
    text = 'weight', help = 'weight of the group, 1 to 256: a group with 2 starts twice as many tasks as a group with 1 (1)', shown = 'weight of its group'},
  {name = 'cost', kind = 'whole', min = 1, max = 'REEVE_COST_MAX', cron = true,
    help = 'units of the rate limits that each start of the task takes (1)', shown = 'units of the rate limits that each start takes; null: 1'},
  {name = 'limit_keys', kind = 'own', flag = 'limit-key', argument = 'KEY', check = 'limit_keys', write = 'limit_keys', read = 'limit_key',
    bulk = 'limit_keys', bulk_type = 'an array', cron = true, keep = 'limit_keys', json_type = 'list of text or null',
    help = 'limit key: limits of the key count the task; may be repeated, at most 8', shown = 'limits of each of these keys count the task'},
  {name = 'attempts', kind = 'whole', min = 1, max = 'REEVE_ATTEMPTS_MAX', cron = true, broadcast = false, view = false,
    help = 'number of failed attempts after which the task dies (set by the handler or queue, else 20)',
    shown = 'this and the next three members: option of the task; null: not set'},
  {name = 'max_crashes', kind = 'whole', min = 1, max = 'REEVE_ATTEMPTS_MAX', envelope = 'crashes', cron = true, broadcast = false, view = false,
    help = 'number of crashes after which the task dies (set by the handler or queue, else 3)'},
  {name = 'timeout', kind = 'span', min = 1, cron = true, help = 'run time limit of an attempt (set by the handler or queue, else none)'},
  {name = 'heartbeat', kind = 'span', min = 1, cron = true,
    help = 'heartbeat limit: longest time without a call of reeve_task_heartbeat, _extend, _progress, _checkpoint or _log (set by the handler or queue, else none)'},
  {name = 'at_most_once', kind = 'flag', envelope = 'at_most_once', cron = true, view = 'runs', view_text = 'at most once',
    help = 'record the task as completed before it runs, so that it never runs twice', shown = 'option of the task'},
  {name = 'backoff', kind = 'own', argument = 'SPEC', check = 'backoff', write = 'backoff', read = 'backoff', bulk = 'backoff',
    cron = true, broadcast = false, json_type = 'text or null', help = 'delays between attempts (set by the handler or queue, else exponential)',
    shown = 'option of the task, in the form of `--backoff`; null: not set'},
  {name = 'retry_for', kind = 'span', min = 1, check = 'retry_for', cron = true, broadcast = false,
    help = 'retry the task for at most this time after its enqueue: a later failure is final (set by the handler or queue, else no limit)'},
  {name = 'max_snoozes', kind = 'whole', min = 1, max = 'REEVE_ATTEMPTS_MAX', envelope = 'snoozes', cron = true, view = false,
    help = 'number of times that the handler may snooze the task; the next time it dies (set by the handler or queue, else no limit)'},
  {name = 'keep', kind = 'span', min = 1, cron = true,
    help = 'how long the record of the completed task is kept, with its result (set by the retention of the queue)',
    shown = 'option of the task; null: the retention of the queue applies'},
  {name = 'unique', kind = 'text', argument = 'KEY', check = 'unique', write = 'unique',
    help = 'unique key: at most one task of the queue holds it; see --on-conflict', shown = 'the unique key'},
  {name = 'unique_until', kind = 'own', field = 'unique_until_started', argument = 'WHEN', check = false, write = false,
    envelope = 'until', read = 'until', bulk = 'until', json = 'unique_until', json_type = 'text or null', show = 'unique_until',
    text = 'unique_until', help = 'when the task releases the key. started: when it is leased for the first time; ended: when it has ended (ended)',
    shown = '`started` or `ended`, as `--unique-until`; null: no key, or a key that is held for a time'},
  {name = 'unique_for', kind = 'span', min = 1, with = 'unique', write = false, envelope = 'unique_for',
    help = 'hold the key for this time from the enqueue, even if the task completes or dies earlier', shown = 'how long the task holds the key from its enqueue; null: not set'},
  {name = 'on_conflict', kind = 'own', argument = 'WHAT', check = false, envelope = false, read = 'conflict', bulk = 'conflict',
    json = false, view = false, help = 'what to do if another task holds the key: reject, replace or debounce (reject)'},
  {name = 'on_dead', kind = 'text', argument = 'TYPE', check = 'on_dead', cron = true, text = 'on_dead',
    help = 'type of a task to enqueue if this task dies; "": none (set by the queue, else none)',
    shown = 'option of the task: type of the death callback; "": none; null: not set'},
  {name = 'tags', kind = 'own', flag = 'tag', argument = 'T', check = false, write = 'tags', read = 'tag', bulk = 'tags',
    bulk_type = 'an array', cron = true, keep = 'tags', json_type = 'list of text or null',
    help = 'tag of the task; may be repeated', shown = ''},
  {name = 'meta', kind = 'own', argument = 'KEY=VALUE', check = 'meta', write = 'meta', read = 'meta', bulk = 'meta',
    bulk_type = 'an object', cron = true, keep = 'meta', json_type = 'map of text or null',
    help = 'metadata of the task; may be repeated', shown = ''},
  {name = 'after', kind = 'own', argument = 'HANDLE[:RULE]', check = 'after', envelope = false, read = 'after', bulk = 'after',
    bulk_type = 'a string or an array', json = false, view = false,
    help = 'block the task until the task HANDLE has ended; may be repeated'},
}
