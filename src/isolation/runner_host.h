/*
 * runner_host.h - the calls of a running handler in a runner: each is a message to the worker, which makes the call.
 */
#ifndef RV_RUNNER_HOST_H
#define RV_RUNNER_HOST_H

#include "isolation/runner_hello.h"
#include "isolation/runner_run.h"

/* The run that a runner is busy with. For its main thread. */
typedef struct rv_runner_at {
    int fd;
    uint64_t run;
    rv_runner_flags *flags;
    const rv_runner_loaded *loaded;
    rv_buf out; /* of a call */
    rv_buf in;  /* of its answer */
} rv_runner_at;

/* One task of the run, and its host. */
typedef struct rv_runner_place {
    reeve_task task;
    rv_task_host host;
    rv_runner_at *at;
    uint32_t index;
    atomic_llong result_max;
    atomic_llong payload_max;
} rv_runner_place;

/* Sends a message to the worker. The limit of a file's size is not for that of a long one. */
reeve_status rv_runner_host_send(const rv_runner_at *at, const rv_runner_message *message);

/* Makes the host of a task; its limits are set. */
void rv_runner_host_make(rv_runner_place *place);

#endif
