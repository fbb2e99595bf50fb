/*
 * stacks.h - the stacks of the threads of a worker's process, while it works: for `reeve stack`, for QUIT, for handlers
 * that do not return, and for the supervisor of a frozen worker.
 *
 * A thread writes its own stack, in the handler of a real-time signal that is sent to it alone. That handler does not
 * allocate and takes no lock. A thread that blocks the signal, or waits in the kernel where no signal wakes it, has no
 * stack here. As any signal, this one may end a call of a handler's early (EINTR).
 */
#ifndef HOST_STACKS_H
#define HOST_STACKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "reeve/worker.h"
#include "running/flight.h"

#define HOST_STACKS_MAX ((size_t)1024 * 1024) /* bytes of an answer */

/*
 * On the main thread, before others are started and plugins are loaded: takes a real-time signal that nobody uses, the
 * highest one. stacks: where they are written, which the supervisor sees; NULL: memory of this process alone. Without
 * memory or signal there are no stacks.
 */
void host_stacks_begin(rv_flight_stacks *stacks);

/*
 * Asks the threads of this process, and waits for them, for up to half a second. Any thread. `thread` is the name of a
 * thread, or its number in the system; NULL: all. Adds the JSON {"threads":[...],"left_out":N} to `ret`; N threads are
 * missing when it is full. False: there is no stack, or no such thread; `ret` says why.
 */
bool host_stacks_json(rv_buf *ret, const char *thread);

/* From now on also the threads of the worker's runners are asked, until worker is NULL. A thread of a runner has the name
 * "NAME (runner)" or "NAME (its own name)", where NAME is that of the worker's thread, and is asked with that. */
void host_stacks_watch(reeve_worker *worker);

/* The same, as messages of the log, one a thread. */
void host_stacks_log(const char *thread);

/*
 * For a supervisor that is about to kill `pid`: logs the stacks of its threads, and adds them to `ret` as lines. A
 * process that was stopped is continued for that; its threads do not run on.
 */
void host_stacks_last(rv_buf *ret, pid_t pid, rv_flight_stacks *stacks);

#endif
