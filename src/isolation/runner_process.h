/*
 * runner_process.h - a runner, seen by its worker: its process, and the socket to it.
 *
 * A runner is executed anew (never a copy of a process that has loaded plugins), in a process group of its own. The
 * worker's thread that owns it is the only one that uses it. The worker does not see the end of the process by a signal:
 * the socket is closed then, and where another process has inherited the other end, the pidfd says so. The process is
 * not reaped before its group was killed, so that no other process can have its number then.
 */
#ifndef RV_RUNNER_PROCESS_H
#define RV_RUNNER_PROCESS_H

#include <sys/types.h>

#include "isolation/runner_cgroup.h"
#include "isolation/runner_hello.h"

/* How long a new runner may take to load its plugins. */
#define RV_RUNNER_START_MS 30000

typedef struct rv_runner {
    pid_t pid; /* 0: there is no process */
    int pidfd; /* -1: the kernel has none */
    int fd;    /* of the socket */
    rv_runner_flags *flags;
    void *crash; /* memory that both share, for the record of a crash; NULL: none */
    size_t crash_size;
    uint64_t number; /* among all runners of this process: see runner_leftovers.h */
    rv_runner_cgroup cgroup;
    uint64_t runs;      /* how many it was given: the number of the last one */
    int64_t started_ms; /* monotonic */
} rv_runner;

#define RV_RUNNER_NONE ((rv_runner){.pidfd = -1, .fd = -1})

/* Starts a process and sends it the hello. name: of the thread, for `ps`. crash_size: bytes of memory for the record of a
 * crash, or 0. REEVE_ESYSTEM. The caller goes on with
 * rv_runner_process_await. */
reeve_status rv_runner_process_start(rv_runner *ret, const char *name, const rv_buf *hello, size_t crash_size,
                                     const rv_runner_cgroup_options *cgroup, rv_error *error);

/* Waits until the runner has loaded the plugins. On failure the process is gone. REEVE_EPLUGIN: it could not load them.
 * REEVE_ETIMEOUT, REEVE_ESYSTEM. Writes what of its sandbox is in force, in words. */
reeve_status rv_runner_process_await(rv_runner *runner, int64_t deadline, char ret_in_force[RV_RUNNER_SANDBOX_TEXT],
                                     rv_error *error);

/* How a process ended. */
typedef struct rv_runner_end {
    int signal;    /* 0: it ended by itself, */
    int status;    /* with this status */
    bool was_full; /* the limit of memory of its control group has ended it or a process that it started */
} rv_runner_end;

/* Sends a signal to the process group, and to the process itself, which may have left the group. */
void rv_runner_process_signal(const rv_runner *runner, int number);

/* Kills the process group and what has left it (runner_leftovers.h), frees what belongs to the runner, and returns how the
 * process ended. Blocks as long as the kernel needs to end a process. */
rv_runner_end rv_runner_process_kill(rv_runner *runner);

/* The same for a process that is about to end: it ends its own way. */
rv_runner_end rv_runner_process_reap(rv_runner *runner);

/* The same after the runner had up to patience_ms to call its hooks. Without effect if there is no process. */
void rv_runner_process_stop(rv_runner *runner, int64_t patience_ms);

/* Writes "was killed by SIGSEGV", "ended with status 3". */
void rv_runner_process_describe_end(const rv_runner_end *end, char *ret, size_t size);

#endif
