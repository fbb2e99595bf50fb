/*
 * serving.h - which live workers serve a queue, and have a handler of a type: from their records in the registry.
 */
#ifndef RV_PROTOCOL_SERVING_H
#define RV_PROTOCOL_SERVING_H

#include <cjson/cJSON.h>

#include "reeve/client.h"

typedef struct rv_serving {
    unsigned workers;  /* that serve the queue */
    unsigned taking;   /* of these, such as take new tasks */
    unsigned handling; /* of these, such as have a handler of the type */
    bool unsure;       /* the record of a worker that takes tasks does not have all of its types */
    unsigned threads;  /* of the pools of those that take new tasks, which serve the queue */
    bool all_busy;     /* each of these threads runs a task; false also where a record does not tell */
} rv_serving;

/* Whether a pool, as the record of a worker has it, serves the queue or a partition of it. */
bool rv_serving_has(const cJSON *pool, const char *queue);

/* type: NULL: any. REEVE_ENOMEM: not known. */
reeve_status rv_serving_count(rv_serving *ret, const reeve_worker_info *list, size_t count, const char *queue,
                              const char *type);

#endif
