/*
 * runner_leftovers.h - processes that the handlers of a runner have started and that outlive it. Most of them are in the
 * process group of the runner, and end with it. One that has left the group (setsid, setpgid) is found by its
 * environment, which contains the mark of its runner, and by its parent: when its runner has ended, its parent is an
 * ancestor of the runner (init, or a subreaper such as the supervisor). Each runner has a mark of its own, so that what
 * the handlers of another one have started lives on. A process that has cleared its environment is not found.
 */
#ifndef RV_RUNNER_LEFTOVERS_H
#define RV_RUNNER_LEFTOVERS_H

#include <stdint.h>
#include <sys/types.h>

/* The variable that each runner has in its environment: the process id of its worker, a colon, and its number. */
#define RV_RUNNER_OF "REEVE_RUNNER_OF="
#define RV_RUNNER_MARK_SIZE 64

/* A number that no other runner of this process has. Any thread. */
uint64_t rv_runner_leftovers_number(void);

/* Writes the variable for a runner of the calling process. */
void rv_runner_leftovers_mark(uint64_t number, char ret[RV_RUNNER_MARK_SIZE]);

/* Kills what a runner of the calling process has left behind; it was reaped. Takes a few milliseconds at most, unless
 * there are thousands of processes. Any thread. */
void rv_runner_leftovers_kill(uint64_t number);

/* Kills the runners of a worker that has ended, and what they have left behind. */
void rv_runner_leftovers_kill_all(pid_t worker);

#endif
