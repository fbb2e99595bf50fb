-- The numbers of the protocol. In a script `@NAME@` stands for the number; in C it is `RV_NAME` (protocol/definition.h).
--   name, value
--   unit       ms, s, bytes; absent: a number of things
--   public     the name of the same number in include/reeve, which must agree (protocol/definition_check.c)
--   help
-- docs/protocol.md shows all rows, by `section`.
return {
  {section = 'Format'},
  {name = 'FORMAT', value = 1, help = 'the version of the data in Redis that this release writes, and the highest that it reads'},

  {section = 'Order'},
  {name = 'SCORE_START', value = 1099511627776, help = 'the sequence number of the first task that is put at the end of an empty queue (2^40)'},
  {name = 'SCORE_STEP', value = 256, help = 'the distance between the sequence numbers of two tasks that are enqueued one after the other'},
  {name = 'SCORE_BAND', value = 70368744177664, help = 'the width of the range of sequence numbers that belongs to one priority (2^46)'},
  {name = 'PRIORITY_MIN', value = -128, public = 'REEVE_PRIORITY_MIN', help = 'the priority that is leased first'},
  {name = 'PRIORITY_MAX', value = 127, public = 'REEVE_PRIORITY_MAX', help = 'the priority that is leased last'},
  {name = 'TASK_WEIGHT_MAX', value = 256, help = 'the largest weight of a task in its group'},
  {name = 'LATEST', value = 9007199254740991, unit = 'ms', help = 'the latest time: larger numbers are not exact in Lua (2^53 - 1)'},
  {name = 'PLACES', value = 2048, help = 'number of different scores within one millisecond, in a sorted set of times'},

  {section = 'First bytes'},
  {name = 'SEGMENT_BYTE', value = 43, help = 'the byte that begins the member of a segment in `ready`: `+`'},
  {name = 'ID_BYTE_MIN', value = 45, help = 'the lowest byte that can begin an id: `-`. `#`, `+` and `@` begin other members and fields'},
  {name = 'INFO_BYTE', value = 105, help = 'the third byte of an envelope that is marked with `info`: `i`'},

  {section = 'Names and texts'},
  {name = 'QUEUE_MAX', value = 64, unit = 'bytes', public = 'REEVE_QUEUE_MAX', help = 'the longest name of a queue'},
  {name = 'SIGNAL_NAME_MAX', value = 64, unit = 'bytes', public = 'REEVE_SIGNAL_NAME_MAX', help = 'the longest name of a signal'},
  {name = 'TYPE_MAX', value = 100, unit = 'bytes', public = 'REEVE_TYPE_MAX', help = 'the longest type'},
  {name = 'ID_LENGTH_MAX', value = 100, unit = 'bytes', public = 'REEVE_ID_LENGTH_MAX', help = 'the longest id'},
  {name = 'UUID_BYTES', value = 36, unit = 'bytes', help = 'the length of a generated id'},
  {name = 'GROUP_MAX', value = 100, unit = 'bytes', public = 'REEVE_GROUP_MAX', help = 'the longest name of a group'},
  {name = 'UNIQUE_MAX', value = 200, unit = 'bytes', public = 'REEVE_UNIQUE_MAX', help = 'the longest unique key'},
  {name = 'TAG_MAX', value = 200, unit = 'bytes', public = 'REEVE_TAG_MAX', help = 'the longest tag'},
  {name = 'TAGS_MAX', value = 64, public = 'REEVE_TAGS_MAX', help = 'the maximum number of tags of a task'},
  {name = 'HEADER_MAX', value = 262144, unit = 'bytes', help = 'the longest header of an envelope; a task with a longer one is malformed'},
  {name = 'LARGE', value = 65536, unit = 'bytes', help = 'a queue that ever held a longer envelope has the setting `large`'},
  {name = 'HISTORY_MAX', value = 20, help = 'the maximum number of lines in the history of a task'},
  {name = 'HISTORY_TEXT_MAX', value = 200, unit = 'bytes', help = 'the longest text in a line of history; a longer one is cut'},
  {name = 'REASON_MAX', value = 200, unit = 'bytes', help = 'the longest reason of a cancel'},
  {name = 'ERROR_KINDS_MAX', value = 100, help = 'the maximum number of kinds of errors that the statistics of a day count by name'},
  {name = 'DAY_TYPES_MAX', value = 100, help = 'the maximum number of types that the statistics of a day count by name'},

  {section = 'Maxima of one call'},
  {name = 'ENQUEUE_MAX', value = 2000, help = 'tasks of one `enqueue`'},
  {name = 'CALL_MAX', value = 1000, help = 'tasks that one `turn` leases; completions of one queue in one `turn`; tasks that one call of `list`, or of most other scripts, reads or changes. A call of `maintain` has a smaller budget'},
  {name = 'PARENTS_MAX', value = 1000, public = 'REEVE_PARENTS_MAX', help = 'parents that one `enqueue` names for a task'},
  {name = 'DEPEND_MAX', value = 2000, help = 'parents of one `depend`'},
  {name = 'REGAIN_MAX', value = 64, help = 'tasks of one `regain`'},
  {name = 'REPLY_BYTES_MAX', value = 8388608, unit = 'bytes', help = 'total length of the envelopes in one reply; a reply can always contain one task'},

  {section = 'Segments'},
  {name = 'SEGMENT_MIN', value = 4, help = 'the minimum number of tasks of a call that make a segment'},
  {name = 'SEGMENT_MAX', value = 1024, help = 'the maximum number of tasks in a segment'},
  {name = 'SEGMENTS_MAX', value = 1000, help = 'while the queue has this many segments, a call of few tasks makes no new segment'},
  {name = 'SEGMENT_MANY', value = 64, help = 'a call of fewer tasks counts as a call of few tasks, see SEGMENTS_MAX'},
  {name = 'BULK_KEY_S', value = 3600, unit = 's', help = 'how long `bulk_closed:<p>` prevents a late bulk insert'},
  {name = 'BULK_AGE_MAX', value = 1000, unit = 'ms', help = 'a bulk insert with an older enqueue time is enqueued anew'},

  {section = 'Dependencies and messages'},
  {name = 'CHILDREN_AT_ONCE', value = 16, help = 'children that are notified in the call that ends their parent; if there are more, all are notified in steps'},
  {name = 'EDGES_AT_ONCE', value = 64, help = 'edges of a child that are added or removed in the same call; if there are more, in steps'},
  {name = 'OUTBOX_MAX', value = 1000, help = 'while `outbox` has this many messages, fan-outs to other queues wait; also the maximum length of `unread`'},
  {name = 'RECEIVED_MAX', value = 10000, help = 'the maximum number of messages of one source that `received:<queue>` records'},
  {name = 'RECEIVED_S', value = 2592000, unit = 's', help = 'a queue forgets a source that sent no message for this time'},
  {name = 'REPLACED_CHILDREN_MAX', value = 1000, help = 'a task with more children is not replaced'},
  {name = 'REPLACED_PARENTS_MAX', value = 64, help = 'a task with more parents is not replaced'},
  {name = 'REPLACEMENT_MS', value = 86400000, unit = 'ms', help = 'how long `replaced_by:<id>` exists if the replaced task had children in other queues'},
  {name = 'REPLACEMENT_BRIEF_MS', value = 300000, unit = 'ms', help = 'how long `replaced_by:<id>` exists otherwise'},

  {section = 'Idle threads'},
  {name = 'WAKE_PAGE', value = 200, help = 'idle threads that one call wakes; the others wait in `wake_later`'},
  {name = 'IDLE_PASSED_MAX', value = 100, help = 'idle threads that one call skips because their session or worker no longer exists'},

  {section = 'Other'},
  {name = 'EVENTS_DEFAULT', value = 10000, help = 'the length of the stream `events` if the setting `events` is absent'},
  {name = 'BREAKER_ATTEMPTS', value = 20, help = 'the number of attempts before a circuit breaker opens, if it is not set'},
  {name = 'BREAKER_WINDOW_MS', value = 60000, unit = 'ms', help = 'the time in which a circuit breaker counts attempts, if it is not set'},
  {name = 'BREAKER_PAUSE_MS', value = 30000, unit = 'ms', help = 'how long a circuit breaker is open, if it is not set'},
  {name = 'REVOKED_MS', value = 60000, unit = 'ms', help = 'how long a session whose lease of a task was ended by hand does not lease that task again, if its worker does not call `regain`'},
  {name = 'PUT_OFF_MS', value = 1000, unit = 'ms', help = 'the delay of a task that crashed at least twice, if the session that would lease it holds another such task'},
  {name = 'ONE_DAY_MS', value = 86400000, unit = 'ms', help = 'a day'},
  {name = 'CRON_DUE_MAX', value = 50, help = 'recurring entries in one reply of `maintain`'},
}
