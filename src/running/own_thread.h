/*
 * own_thread.h - which of a worker's threads calls, and what it runs: for signal handlers of the program, on that
 * thread.
 */
#ifndef RV_RUNNING_OWN_THREAD_H
#define RV_RUNNING_OWN_THREAD_H

#include "reeve/client.h"
#include "running/worker_state.h"

/* What a thread runs. */
typedef struct rv_own_task {
    char queue[REEVE_QUEUE_MAX + 1];
    char id[REEVE_ID_MAX]; /* "": it runs none; then the rest is not set */
    char type[REEVE_TYPE_MAX + 1];
    int64_t since_ms; /* on the monotonic clock */
} rv_own_task;

/* The calling thread runs t from now on. */
void rv_own_thread_set(const rv_thread *t);

/* NULL: it is no thread that runs tasks. Safe in a signal handler; also the next. */
const rv_thread *rv_own_thread_get(void);

/* The task that the calling thread runs; of a call of many, the first. */
void rv_own_thread_task(rv_own_task *ret);

#endif
