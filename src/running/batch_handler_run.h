/*
 * batch_handler_run.h - the call of a handler that takes many tasks (batch_handler.h). For the thread that owns the
 * batch.
 */
#ifndef RV_RUNNING_BATCH_HANDLER_RUN_H
#define RV_RUNNING_BATCH_HANDLER_RUN_H

#include "running/worker_state.h"

/* Runs the picked items in one call, and notes the outcome of each. */
void rv_batch_handler_run(rv_thread *thread, size_t count);

/* Its handler does not return: those on which it called no outcome have failed, and why. */
void rv_batch_handler_run_end_early(rv_thread *thread, const char *why);

/* Frees what gathering and calls needed. */
void rv_batch_handler_run_fini(rv_thread *thread);

#endif
