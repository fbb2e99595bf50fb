-- The fields of the hash `info:<id>`.
return {
  {section = 'Failures and crashes'},
  {name = 'failures', help = 'failed attempts'},
  {name = 'crashes', help = 'crashes: sessions that died while they ran it'},
  {name = 'alone', help = '`1`: it crashed while it ran alone in its worker'},
  {name = 'kind', help = 'the kind of the last error'},
  {name = 'message', help = 'the message of the last error'},
  {name = 'failed', help = 'the time of the last failure (ms)'},
  {name = 'place', help = 'of a task that was put off: its score, which it gets again, and the `epoch` of `order`; when the scores have begun again since, it comes first'},

  {section = 'Reports of the handler'},
  {name = 'progress', help = 'percent'},
  {name = 'words', help = 'the message of the progress'},
  {name = 'checkpoint', help = 'bytes that the next attempt reads'},
  {name = 'has', help = '`c` while there is a checkpoint'},
  {name = 'logged', help = 'how many lines the task has logged'},
  {name = 'logging', help = 'the last line that was logged: its lease and its number there'},
  {name = 'log:<0 to 99>', help = 'the last lines, a ring: `<number> <ms> <line>`'},

  {section = 'Records'},
  {name = 'history', help = 'see History'},
  {name = 'run', help = 'of a completed task in a queue that records runs: `<since ms> <thread> <session>`'},

  {section = 'Dependencies'},
  {name = 'pending', help = 'how many parents have not ended'},
  {name = 'due', help = 'of a blocked task: when it becomes ready; absent: at once'},
  {name = 'death', help = 'it waits for the death of a parent'},
  {name = 'restoring', help = 'it was retried, and its edges are made again in steps'},
}
