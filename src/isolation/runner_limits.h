/*
 * runner_limits.h - what a runner may use: limits of the system for its process, and the directory of a task.
 */
#ifndef RV_RUNNER_LIMITS_H
#define RV_RUNNER_LIMITS_H

#include "isolation/runner_sandbox.h"
#include "reeve/worker.h"

/* Sets the limits of the calling process that hold all its life. One that the system refuses stays as it is. */
void rv_runner_limits_set(const reeve_runner_options *limits);

/* A run begins: sets the limit of its CPU time, and the directory that it works in ("": it has none). */
void rv_runner_limits_begin(const reeve_runner_options *limits, const char *scratch);

/* Makes a new directory in `base`, for the user of the runner alone, and writes its path. size is at least PATH_MAX. False: errno. */
bool rv_runner_limits_make_scratch(const char *base, const rv_runner_sandbox *sandbox, char *ret, size_t size);

/* Removes it with all that is in it. Symbolic links are removed, not followed. */
void rv_runner_limits_remove_scratch(const char *path);

/* Removes what lies in a directory, and not the directory. */
void rv_runner_limits_empty_scratch(const char *path);

#endif
