/*
 * known_queues.h - the queues that a client has entered into <ns>:queues, so that its next tasks need not enter them
 * again. The last few count, for a time and for one connection: Redis may have been emptied since.
 */
#ifndef RV_CLIENT_KNOWN_QUEUES_H
#define RV_CLIENT_KNOWN_QUEUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "reeve/partition.h"
#include "reeve/task.h"

#define RV_KNOWN_QUEUES_MAX (REEVE_PARTITIONS_MAX + 16) /* a queue with all its partitions, and others beside it */

typedef struct rv_known_queues {
    char (*names)[REEVE_QUEUE_MAX + 1]; /* in the order in which they came, until there are too many */
    size_t count, next;                 /* the place of the next one, which replaces the oldest */
    unsigned epoch;                     /* of the connection */
    int64_t until_ms;                   /* monotonic */
} rv_known_queues;

void rv_known_queues_fini(rv_known_queues *known);

/* Before a call over a connection with this epoch: forgets them where they do not count any more. */
void rv_known_queues_renew(rv_known_queues *known, unsigned epoch);
bool rv_known_queues_has(const rv_known_queues *known, const char *queue);
/* Without memory the queue stays unknown. */
void rv_known_queues_add(rv_known_queues *known, const char *queue);
/* The next call enters its queues again. */
void rv_known_queues_forget(rv_known_queues *known);

#endif
