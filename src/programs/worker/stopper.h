/*
 * stopper.h - reeve_worker_stop on a thread of its own: the program's one waiting place goes on hearing signals.
 */
#ifndef HOST_STOPPER_H
#define HOST_STOPPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "reeve/worker.h"

typedef struct host_stopper {
    reeve_worker *worker;
    int64_t deadline_ms;
    bool started;
    atomic_bool done; /* the worker has stopped */
    reeve_status status;
    pthread_t id;
} host_stopper;

/* Ends the main thread's wait (signals.h) when it is done. False: it could not be started (errno); then the caller
 * stops the worker itself. */
bool host_stopper_start(host_stopper *stopper, reeve_worker *worker, int64_t deadline_ms);
/* Waits for the end; what reeve_worker_stop returned. */
reeve_status host_stopper_join(host_stopper *stopper);

#endif
