/*
 * client_enqueue.h - one pipeline of client_enqueue.c: enqueue_plan.c says what its calls carry, and bulk_insert.c
 * builds a part of them.
 */
#ifndef RV_CLIENT_CLIENT_ENQUEUE_H
#define RV_CLIENT_CLIENT_ENQUEUE_H

#include "client/client.h"

#define RV_PIPELINE_CALLS 64 /* calls in a pipeline, at most */

/* One call of enqueue.lua: specs [first, first + span) less those that were refused before. */
typedef struct rv_enqueue_call {
    size_t first;
    size_t span;        /* specs passed over */
    size_t count;       /* tasks sent */
    size_t bytes;       /* their payloads, about */
    size_t work;        /* for Redis, see CALL_WORK (enqueue_plan.c) */
    size_t until;       /* tasks of it have parents among the specs before this one: those go with it */
    bool plain;         /* none of them has options */
    bool fresh;         /* their ids were made here, and none of them is large */
    bool answered;      /* by a try whose later replies were lost: it is not sent again */
    bool bulk_inserted; /* in this try (bulk_insert.h) */
    unsigned segment;   /* the segment, if any try bulk-inserted it; else 0 */
    size_t command;     /* the first of its commands in this try, */
    size_t commands;    /* how many commands; 0: it was not sent */
} rv_enqueue_call;

/* A pipeline under way. */
typedef struct rv_enqueue_pipeline {
    reeve_client *client;
    const reeve_task_spec *specs;
    const unsigned *fits; /* rv_client_enqueue_send */
    reeve_enqueued *results;
    rv_enqueue_call calls[RV_PIPELINE_CALLS];
    size_t call_count;
    bool bulk_inserting;  /* in this try: an earlier call was bulk-inserted, */
    bool asking;          /* or Redis is probed for that */
    bool again;           /* calls without an answer are sent once more, as such whose reply was lost */
    bool lost;            /* the replies of a try were lost: unanswered tasks may have been enqueued */
    size_t clock_command; /* asks for Redis's clock, in this try; SIZE_MAX: none does */
    size_t failed;        /* the first spec that failed, or SIZE_MAX */
    rv_error error;       /* and its words */
    /* the error that kept a bulk insert out of its transaction, and the same as a reply */
    rv_error refused;
    rv_reply refusal;
    bool bare; /* its commands were executed without a transaction */
} rv_enqueue_pipeline;

/* reeve_enqueue_many of specs that have been read. */
reeve_status rv_client_enqueue_run(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                   reeve_enqueued *results);

/* The same for queues that are not divided, and partitions (partition_enqueue.h). fits: by spec, of how many partitions
 * its queue is one, which an id that is made has to fit; 0: it is none; NULL: none is. */
reeve_status rv_client_enqueue_send(reeve_client *client, const reeve_task_spec *specs, const unsigned *fits,
                                    size_t count, reeve_enqueued *results);

/* The tasks may have been enqueued: the call ended without their answer. */
bool rv_client_enqueue_is_unknown(reeve_status status);

#endif
