/*
 * thread_place.h - where a thread of a pool runs: its processors, its niceness, and how much processor time it used.
 */
#ifndef RV_RUNNING_THREAD_PLACE_H
#define RV_RUNNING_THREAD_PLACE_H

#include "running/worker_state.h"

/* The calling thread begins: notes its id, and takes the processors and the niceness of its pool. What the system
 * refuses is logged once for each pool; the thread then runs as the process does. */
void rv_thread_place(rv_thread *thread);

/* How long the thread, with the main thread of its runner, has been on a processor or ready to run there since it was measured last, in microseconds; -1: not
 * known. Only the keeper calls it. */
int64_t rv_thread_place_measure(rv_thread *thread);

#endif
