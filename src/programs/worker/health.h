/*
 * health.h - the socket that tells whether the worker lives and is ready (worker.health), and `reeve-worker --health`, which asks
 * it.
 *
 * Whoever connects is sent one line of JSON: {"live":true,"ready":true,"state":"running","connected":true,"threads":2,"busy":0,"stuck":0,"refused":false}.
 * It is ready while it leases tasks and Redis accepts its heartbeats (refused: it does not), unless it ought to be started again (renewal.h).
 */
#ifndef HOST_HEALTH_H
#define HOST_HEALTH_H

#include <pthread.h>
#include <stdbool.h>

#include "reeve/worker.h"

typedef struct host_health {
    reeve_worker *worker;
    const char *path; /* borrowed; NULL: there is no socket */
    int listener, wake;
    pthread_t thread;
    bool started;
} host_health;

/* Listens at `path` (NULL: nothing is done) and answers on a thread of its own. Failing is logged; the worker runs all the
 * same. */
void host_health_start(host_health *health, reeve_worker *worker, const char *path);
/* Ends the thread and removes the socket; before the worker is destroyed. */
void host_health_stop(host_health *health);

/* The worker ought to be started again; or not any more. Any thread. */
void host_health_set_exhausted(bool is_exhausted);

/* health_ask.c: asks the worker whose socket that is, and prints the answer. The exit status: 0 ready, 1 live but not ready, 3
 * nobody answers. */
int host_health_ask(const char *path);

#endif
