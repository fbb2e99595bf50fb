/*
 * runner_leftovers.h - processes that the handlers of a runner have started and that outlive it. Most of them are in the
 * process group of the runner, and end with it. One that has left the group (setsid, setpgid) is found by its
 * environment, which contains the process id of the worker, and by its parent: when its runner has ended, its parent is
 * an ancestor of the runner (init, or a subreaper such as the supervisor). A process that has cleared its environment is
 * not found.
 */
#ifndef RV_RUNNER_LEFTOVERS_H
#define RV_RUNNER_LEFTOVERS_H

#include <stdbool.h>
#include <sys/types.h>

/* The variable that each runner has in its environment: the process id of its worker. */
#define RV_RUNNER_OF "REEVE_RUNNER_OF="

/* A runner is about to be started: no thread looks for leftovers until rv_runner_leftovers_end_start, which tells that
 * this process lives (0: it was not started). False: no memory, and the lock is not held. */
bool rv_runner_leftovers_begin_start(void);
void rv_runner_leftovers_end_start(pid_t pid);

/* The runner has ended, and its process was reaped. */
void rv_runner_leftovers_note_end(pid_t pid);

/* Kills what the runners of this worker left behind: of the calling process, of which those that were started here live
 * on, or of one that has ended. Takes a few milliseconds at most, unless there are thousands of processes. Any thread. */
void rv_runner_leftovers_kill(pid_t worker);

#endif
