/*
 * isolated_state.h - the runner of a thread, and the call that the thread is busy with: for isolated.c, isolated_run.c and
 * isolated_death.c alone.
 */
#ifndef RV_RUNNING_ISOLATED_STATE_H
#define RV_RUNNING_ISOLATED_STATE_H

#include <limits.h>

#include "isolation/runner_process.h"
#include "running/worker_state.h"

typedef struct rv_isolated {
    pthread_mutex_t lock; /* held while the runner is replaced, or visited by another thread */
    rv_runner runner;
    rv_waker waker; /* rung when a running task is asked to stop */
    rv_buf hello;
    const rv_handler_set *set; /* that the runner loads */
    int64_t again_at;          /* the last start failed: when the next one is tried (monotonic ms); 0: it did not */
    uint64_t tasks;            /* that the runner was given */
    uint64_t max_tasks;        /* with so many it is replaced; 0: never */
    char base[PATH_MAX];       /* where handlers may write (rw:scratch): of this runner alone; "": none */
    char scratch[PATH_MAX];    /* of the present run; "": none */
    rv_buf in;
    rv_buf out;
} rv_isolated;

/* The run that the thread is busy with. */
typedef struct rv_isolated_call {
    rv_thread *t;
    rv_isolated *own;
    reeve_task *const *tasks;
    size_t count;
    bool done;
    bool lost;         /* the process has died, or does not behave as a runner, */
    bool is_garbled;   /* which this tells */
    bool is_stopped;   /* all tasks were asked to stop */
    bool was_ended;    /* for that the process was sent a signal */
    int64_t signal_at; /* when the next one is sent (monotonic ms) */
    bool is_prolonged; /* that was put off once, after a pause of this process */
    pid_t pid;         /* lost: of the process that has died, */
    rv_runner_end end; /* and how */
    void *crash;       /* what it has recorded of that, or NULL; to be unmapped */
} rv_isolated_call;

/* The runner leaves the thread: from here on, no other thread visits it. */
rv_runner rv_isolated_take_runner(rv_thread *thread);

/* From the request to stop to SIGTERM, and from there to SIGKILL, in ms. */
int64_t rv_isolated_grace_ms(const rv_thread *thread);

#endif
