/*
 * task_host.h - the calls of a running handler, on the connection of its thread.
 */
#ifndef RV_RUNNING_TASK_HOST_H
#define RV_RUNNING_TASK_HOST_H

#include "running/worker_state.h"

/* The running item gives a sign of life. Returns until when it may be silent, or run (monotonic ms). */
int64_t rv_task_host_note_life(rv_thread *thread, rv_item *item);

/* For the tasks that a worker's thread runs. */
rv_task_host rv_task_host_make(rv_thread *thread);

#endif
