/*
 * consumer_state.h - a consumer and the tasks that its program holds.
 *
 *     reeve_consumer
 *       |- worker      sessions, heartbeats, keeper and scheduler, as of a worker that runs handlers
 *       |- thread      the worker's only thread (running/thread.h): its batch, its connection, its turns. No system
 *       |              thread runs it: the calls of the program do, one at a time (consumer_gate.h)
 *       `- pulled      the tasks that were leased: each is an item of the batch, and a reeve_task of the program
 *
 * The life of a pulled task. Its item is in the batch until a turn has settled it; the memory lives as long as the item
 * or the program need it:
 *
 *     leased: item RUNNING --- settled by the program: FINISHED ---> a turn: it leaves the batch
 *                |                                                       |
 *                +--- its time is up: taken by the keeper ----------------+
 *                +--- its session was lost: RUNNING, refused; FINISHED once the program settles it
 */
#ifndef RV_CONSUMER_CONSUMER_STATE_H
#define RV_CONSUMER_CONSUMER_STATE_H

#include "reeve/consumer.h"
#include "running/attempt_policy.h"
#include "running/invocation.h"

typedef struct rv_pulled {
    rv_invocation call; /* the first member: its task is the program's reeve_task. Its item: NULL once it left */
    reeve_consumer *consumer;
    struct rv_pulled *next;
    struct rv_pulled *previous;
    char *memory; /* of the lease */
    rv_session_text session;
    int64_t since_ms;     /* of the lease, on Redis's clock */
    bool held;            /* the program has it */
    bool finished;        /* the outcome is the program's */
    reeve_status status;  /* how it was settled, once the item has left the batch */
    rv_arena answers;     /* the last reply that a call of its task got */
    size_t layers_passed; /* how many of the consumer's layers it has passed (consumer_layers.h) */
    reeve_outcome chosen; /* by the program, before the layers saw it; NONE: they have not seen it */
} rv_pulled;

/* The thread behind the descriptor (consumer_watch.h). */
typedef struct rv_consumer_watch {
    bool started;
    pthread_t id;
    rv_waker notice; /* the descriptor: rung for the program */
    rv_waker waker;  /* ends the thread's wait */
    rv_conn *conn;
    /* guarded by the consumer's lock: */
    bool ends;
    bool armed;       /* the program wants to know of the next task */
    int64_t woken_ms; /* when a wake-up was taken that is to be passed on; 0: none */
} rv_consumer_watch;

struct reeve_consumer {
    rv_error error;
    reeve_worker *worker;
    reeve_client *learner; /* of the partitions of its queues; NULL once the worker has started */
    rv_thread *thread;
    rv_task_host host; /* the calls of the thread's tasks, without the gate */
    unsigned max;
    unsigned held;         /* how many tasks the program holds */
    rv_pulled *first;      /* all that have memory */
    rv_pulled *alone;      /* the task that the session notes as running alone (suspect.lua) */
    size_t finished_bytes; /* of results and chained tasks that wait to be sent, at least */
    int64_t beaten_ms;     /* the last heartbeat by hand; 0: none */
    atomic_bool interrupted;
    rv_consumer_watch watch;
    /* the gate (consumer_gate.h): calls take turns, in the order in which they come */
    pthread_mutex_t lock; /* guards the next three; held for moments only, no other lock is taken under it */
    pthread_cond_t passed;
    unsigned long next, served;
    bool waits; /* the call that is served waits in Redis, and may be interrupted */
};

static inline rv_pulled *rv_pulled_of(const reeve_task *task)
{
    return (rv_pulled *)(void *)(uintptr_t)task;
}

#endif
