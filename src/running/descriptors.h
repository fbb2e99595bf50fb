/*
 * descriptors.h - a handler may close all descriptors of its process (closefrom, a daemonising library). The worker's
 * own are gone then, and their numbers stand for something else before long.
 */
#ifndef RV_RUNNING_DESCRIPTORS_H
#define RV_RUNNING_DESCRIPTORS_H

#include "running/worker_state.h"

/* Logs, once, that a handler closed descriptors of the worker, if it closed this one, and tells the program. */
void rv_descriptors_check(reeve_worker *worker, const rv_waker *waker);

/* A batch of this thread has ended, which took so long. */
void rv_descriptors_note_run(rv_thread *thread, int64_t took_us);
/* The thread is about to send to Redis: checks its descriptor, if it ran a handler before, or if others did whose
 * outcomes it sends. */
void rv_descriptors_check_before_call(rv_thread *thread, bool has_company);

#endif
