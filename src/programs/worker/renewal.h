/*
 * renewal.h - when a worker is to make way for a new one: it has run as many tasks as it may, uses too much memory, or
 * has more threads that are stuck than it has spare ones. And the threads whose handlers do not return, on their way to
 * the main thread.
 */
#ifndef HOST_RENEWAL_H
#define HOST_RENEWAL_H

#include "config/config.h"
#include "reeve/worker.h"

/* For rv_worker_on_stuck (worker/abandon.h); wakes the main thread. */
void host_renewal_note_stuck(const char *thread, bool spared);

/* The next thread that was noted; NULL: there is none. */
const char *host_renewal_stuck(void);

/* Why the worker is to make way, as the value of a log field; NULL: it is not. Main thread. */
const char *host_renewal_reason(const rv_config *config, reeve_worker *worker);

/* When to ask again (monotonic ms); RV_FOREVER: only after an event. */
int64_t host_renewal_next(const rv_config *config);

#endif
