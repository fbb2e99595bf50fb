/*
 * why_explain.h - why a task or a queue does not run, for programs that have read the registry of workers already: with
 * a thousand workers, that takes Redis longer than the rest.
 */
#ifndef RV_CLIENT_WHY_EXPLAIN_H
#define RV_CLIENT_WHY_EXPLAIN_H

#include "client/client.h"
#include "reeve/why.h"

typedef struct rv_why_workers {
    const reeve_worker_info *list; /* NULL: not known */
    size_t count;
} rv_why_workers;

/* As reeve_task_why, or reeve_queue_why if id is NULL. workers: NULL, or its list is NULL: reads them. */
reeve_status rv_why_explain(reeve_client *client, const char *queue, const char *id, const rv_why_workers *workers,
                            reeve_why **ret);

#endif
