/*
 * worker_child.h - the worker's process as its supervisor sees it: its start, and what it leaves when it has died.
 */
#ifndef HOST_WORKER_CHILD_H
#define HOST_WORKER_CHILD_H

#include <signal.h>
#include <sys/types.h>

#include "base/error.h"
#include "running/flight.h"

typedef struct host_child {
    pid_t pid; /* 0: there is none */
    int flight_fd;
    int notify_fd; /* messages for the service manager */
    rv_flight_header *header;
    int64_t started_ms; /* monotonic */
} host_child;

/* What a process left: its flight record, which host_wreck_drop unmaps. */
typedef struct host_wreck {
    const rv_flight_header *header;
    size_t size;
} host_wreck;

/*
 * Forks the worker, with the signal mask `mask`; the caller's only thread. Returns true in both processes, in the child
 * with ret->pid 0 (it is set up to be supervised); false: there is no child, and the error says why.
 */
bool host_child_start(host_child *ret, const sigset_t *mask, int64_t frozen_ms, rv_error *error);

/* It has died, and was waited for. False: there is no memory to map its record; nothing is left of it. */
bool host_child_end(host_child *child, host_wreck *ret);
void host_wreck_drop(host_wreck *wreck);

/* The next message for the service manager; NULL: there is none now. */
const char *host_child_message(const host_child *child, char *buffer, size_t size);

#endif
