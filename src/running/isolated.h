/*
 * isolated.h - a thread of a pool with process isolation: its handlers run in its runner (isolation/), a process that
 * loads the plugins once and stays between tasks. The thread sends it a task, makes the calls of its handler, and gets
 * the outcome. When the process dies, exactly the tasks of that call have crashed, and the thread starts another one.
 *
 * A handler that is asked to stop (time limits, cancel, lost lease, end of the worker) and does not return within a
 * grace period is ended with its process: SIGTERM, then SIGKILL for the whole process group.
 */
#ifndef RV_RUNNING_ISOLATED_H
#define RV_RUNNING_ISOLATED_H

#include <sys/types.h>

#include "running/flight.h"
#include "running/worker_state.h"

/* Whether all handlers and layers of the worker come from plugins, so that runners can have them. REEVE_EUNSUPPORTED:
 * names the one that does not. */
reeve_status rv_isolated_check(const reeve_worker *worker, const char *pool, rv_error *error);

/* Makes what the thread needs; no process is started. REEVE_ENOMEM, REEVE_ESYSTEM. */
reeve_status rv_isolated_init(rv_thread *thread, rv_error *error);
void rv_isolated_fini(rv_thread *thread);

/* Its next process loads the plugins of the worker's handlers. False: no memory. While the thread has no process. */
bool rv_isolated_adopt(rv_thread *thread);

/* Starts a runner and waits until it has loaded the plugins, unless the thread has one. Fails as rv_runner_process_await. */
reeve_status rv_isolated_start(rv_thread *thread, rv_error *error);

/* Whether the thread may lease tasks: its last runner could be started. If not, the start is tried again each second, so that
 * other threads have the tasks. */
bool rv_isolated_is_able(rv_thread *thread);

/* A thread that may not waits, until it may try again or is rung. */
void rv_isolated_hold(rv_thread *thread);

/* How long it takes at most to end a runner whose handler does not stop, in ms; 0: the thread has none. */
int64_t rv_isolated_end_ms(const rv_thread *thread);

/* Ends the runner: the thread ends. */
void rv_isolated_end(rv_thread *thread);

/* Calls the handler with tasks that the thread has prepared; each has its outcome afterwards. A task of a batch handler
 * may have none. */
void rv_isolated_run(rv_thread *thread, const rv_handler *handler, reeve_task *const *tasks, size_t count);

/* A runner, while another thread visits it: it is not replaced meanwhile. */
typedef struct rv_isolated_seen {
    const char *thread; /* name of the thread that it belongs to */
    pid_t pid;
    rv_flight_stacks *stacks; /* not trusted; NULL: there are none */
    char queue[REEVE_QUEUE_MAX + 1];
    char id[REEVE_ID_MAX]; /* of the task that it runs; "": none */
    char type[REEVE_TYPE_MAX + 1];
    int64_t since_ms; /* monotonic */
} rv_isolated_seen;

/* Calls `each` for all runners of the worker. Any thread, between start and destroy. */
void rv_isolated_visit(reeve_worker *worker, void (*each)(const rv_isolated_seen *seen, void *user), void *user);

#endif
