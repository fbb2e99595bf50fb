/*
 * supervise.h - the small parent of a supervised worker. It loads no plugin and runs no handler, so that nothing of
 * theirs can bring it down.
 *
 *     reeve-worker (the parent)                      the worker, its child
 *       forks the worker                               writes the flight record (running/flight.h)
 *       waits for signals and passes them on           runs tasks
 *       the child died: settles what had finished,     a handler crashes: the fault is recorded
 *         reports the crash, gives back the rest         (crash_handler.h), the process dies
 *       forks another worker
 *
 * The child is forked, not executed anew: the parent has one thread and no state but the configuration, so the child
 * is as clean, its code and the layout of the record are those of the parent also while an upgrade replaces the files,
 * and it starts with the same configuration. Only the parent waits for its child, so that a process id that it signals
 * is the child's.
 */
#ifndef HOST_SUPERVISE_H
#define HOST_SUPERVISE_H

#include "config/config.h"

#define HOST_EXIT_DEATHS 71 /* the worker died again and again before it could work */

/* run: called in the child; its result is the child's exit status. Returns the exit status of the program, in the
 * parent and in the child. redis: its URL or NULL, as for reeve_client_open. */
int host_supervise(const rv_config *config, const char *redis, int (*run)(void *context, bool again), void *context);

#endif
