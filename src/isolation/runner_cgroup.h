/*
 * runner_cgroup.h - the control group (cgroup v2) of a runner, below a directory that the worker may write to: for
 * example the group of its service, if systemd has delegated it (Delegate=yes). With it, the memory of a runner and of
 * all processes that it starts has a common limit, an end by this limit is told from another, and no process that a
 * handler has started outlives the runner.
 *
 *     BASE/reeve-worker/              the worker, with its supervisor; only if BASE is the worker's own group
 *     BASE/reeve-<worker>-<runner>/   a runner; the process ids
 */
#ifndef RV_RUNNER_CGROUP_H
#define RV_RUNNER_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RV_RUNNER_CGROUP_OWN "own" /* in place of a path: the group of the calling process */

/* What a pool asks for. */
typedef struct rv_runner_cgroup_options {
    const char *base; /* NULL: no group */
    int64_t memory;   /* bytes; 0: no limit */
} rv_runner_cgroup_options;

/* What is in force. */
typedef struct rv_runner_cgroup {
    char *path; /* NULL: there is none */
    bool limits_memory;
} rv_runner_cgroup;

/* Where the groups are. */
typedef struct rv_runner_cgroup_base {
    char path[PATH_MAX]; /* "": there is no place for them */
} rv_runner_cgroup_base;

/* A runner is about to be started: prepares the base, which may move the worker to its own group. No other thread starts
 * a runner with a group until rv_runner_cgroup_end. Any thread. */
void rv_runner_cgroup_begin(const rv_runner_cgroup_options *options, rv_runner_cgroup_base *ret);

/* Makes a group for the process, and moves it there, as far as the system allows: see the result. 0: none was started. */
rv_runner_cgroup rv_runner_cgroup_end(const rv_runner_cgroup_options *options, const rv_runner_cgroup_base *base,
                                      pid_t runner);

/* Writes what is in force and what is not, in words. */
void rv_runner_cgroup_describe(const rv_runner_cgroup_options *options, const rv_runner_cgroup *group, char *ret,
                               size_t size);

/* Kills all its processes. Without effect if there is no group; also of the next two. */
void rv_runner_cgroup_kill(const rv_runner_cgroup *group);

/* Whether the limit of memory has ended one of its processes. */
bool rv_runner_cgroup_was_full(const rv_runner_cgroup *group);

/* Removes the group, whose processes were killed. Blocks as long as the kernel needs to end them, at most 200 ms. */
void rv_runner_cgroup_remove(rv_runner_cgroup *group);

#endif
