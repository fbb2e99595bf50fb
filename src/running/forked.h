/*
 * forked.h - a handler, layer or hook may fork, and the child return from it. The child has the caller's thread alone, and
 * shares its connection and its session with the parent: it must not go on as a worker.
 */
#ifndef RV_RUNNING_FORKED_H
#define RV_RUNNING_FORKED_H

#include <unistd.h>

#include "base/fork.h"
#include "running/worker_state.h"

#define RV_FORKED_STATUS 70 /* EX_SOFTWARE; as worker.h says */

static inline bool rv_worker_is_forked(const reeve_worker *worker)
{
    return worker->generation != rv_fork_generation_known();
}

/* After each call of a handler, layer or hook: does not return in a child. No lock may be taken there, also not that of the
 * log: another thread of the parent may have held it. */
static inline void rv_end_if_forked(const reeve_worker *worker)
{
    if (rv_worker_is_forked(worker)) _exit(RV_FORKED_STATUS);
}

#endif
