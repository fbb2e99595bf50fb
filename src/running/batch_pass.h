/*
 * batch_pass.h - a thread runs the tasks of its batch, and learns from their run times how many it should lease. The
 * thread itself calls.
 */
#ifndef RV_RUNNING_BATCH_PASS_H
#define RV_RUNNING_BATCH_PASS_H

#include "running/worker_state.h"

/* A thread begins with one task at a time. */
void rv_batch_pass_init(rv_thread *thread);

/* Runs the tasks of the batch that may run now. Those that are left over are kept or given back by the next turn. */
void rv_batch_pass_run(rv_thread *thread);

/* Notes the end of the running items. An item that the keeper has taken over keeps its state. Returns the size of
 * the results in bytes. */
size_t rv_batch_pass_note_finished(rv_thread *thread, int64_t run_us);

/* The next turn gives the items that have not begun back to the front of their queues. */
void rv_batch_pass_give_back(rv_thread *thread);

#endif
