/*
 * many_run.h - the call of a handler that takes many tasks (many.h). For the thread that owns the batch.
 */
#ifndef RV_MANY_RUN_H
#define RV_MANY_RUN_H

#include "worker/state.h"

/* Runs the picked items in one call, and notes the outcome of each. */
void rv_many_run(rv_thread *thread, size_t count);

/* Frees what gathering and calls needed. */
void rv_many_fini(rv_thread *thread);

#endif
