-- The fields of the hash `info:<id>`.
return {
  {section = 'Failures and crashes'},
  {name = 'failures', help = 'number of failed attempts'},
  {name = 'crashes', help = 'number of crashes: sessions that died while they ran the task'},
  {name = 'alone', help = '`1`: the task crashed while it ran alone in its worker'},
  {name = 'kind', help = 'the kind of the last error'},
  {name = 'message', help = 'the message of the last error'},
  {name = 'backtrace', help = 'of the last crash, if `kind` is `crash`: a frame a line, the innermost first; empty: not known'},
  {name = 'failed', help = 'the time of the last failure (ms)'},
  {name = 'place', help = 'of a task that was delayed because of its crashes (PUT_OFF_MS): the score that it gets again, and the `epoch` of `sequence`; if the epoch has changed, the task goes to the front instead'},
  {name = 'revoked', help = 'after a lease that was ended by hand: the key `running:<session>` of that lease. This session does not lease the task again until its worker calls `regain`, or REVOKED_MS have passed'},
  {name = 'revoked_at', help = 'when that lease was ended (ms)'},

  {section = 'Reports of the handler'},
  {name = 'progress', help = 'progress in percent'},
  {name = 'progress_message', help = 'the message of the progress'},
  {name = 'checkpoint', help = 'the checkpoint, which the next attempt reads'},
  {name = 'has', help = '`c` while there is a checkpoint'},
  {name = 'logged', help = 'number of lines that the task has logged'},
  {name = 'logging', help = 'identifies the last line: the lease in which it was logged, and its number in this lease'},
  {name = 'log:<0 to 99>', help = 'the last lines, a ring: `<number> <ms> <line>`'},

  {section = 'Records'},
  {name = 'history', help = 'see History'},
  {name = 'run', help = 'of a completed task in a queue with `record_runs`: `<since ms> <thread> <session>`'},

  {section = 'Dependencies'},
  {name = 'pending', help = 'number of parents that have not ended'},
  {name = 'due', help = 'of a blocked task: when it becomes ready; absent: at once'},
  {name = 'signal:<name>', help = 'the data of a signal that the task has received'},
  {name = 'death', help = 'the task waits for the death of a parent'},
  {name = 'restoring', help = 'the task was retried, and its edges are restored in steps'},
}
