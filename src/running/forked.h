/*
 * forked.h - a handler, layer or hook may fork, and the child return from it. The child has the caller's thread
 * alone, and shares its connection and its session with the parent: it must not go on as a worker.
 */
#ifndef RV_RUNNING_FORKED_H
#define RV_RUNNING_FORKED_H

#include <pthread.h>
#include <unistd.h>

#include "base/fork.h"
#include "running/worker_state.h"

#define RV_FORKED_STATUS 70 /* EX_SOFTWARE; documented in worker.h */

static inline bool rv_worker_is_forked(const reeve_worker *worker)
{
    return worker->generation != rv_fork_generation_known();
}

/* Called after each call of a handler, layer or hook: ends a child process. It takes no lock, not even that of the
 * log, because another thread of the parent may have held it. */
static inline void rv_end_if_forked(const reeve_worker *worker)
{
    if (rv_worker_is_forked(worker)) _exit(RV_FORKED_STATUS);
}

/* The same on a thread of a pool. A cancellation that this code allowed and asked for must not end the thread later,
 * in the middle of a turn. */
static inline void rv_take_thread_back(const reeve_worker *worker)
{
    rv_end_if_forked(worker);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
}

#endif
