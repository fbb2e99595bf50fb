/*
 * maintain.h - maintenance of a queue that no worker serves.
 *
 * Workers maintain the queues that they serve: scheduled tasks become ready, tasks of dead workers return to the
 * queue, records past their retention are deleted. In a queue that no worker serves none of this happens; the tasks
 * of a worker that died stay "running". A client can do it with reeve_maintain. The `reeve` command does so for each
 * queue that it is given.
 */
#ifndef REEVE_MAINTAIN_H
#define REEVE_MAINTAIN_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of reeve_maintain. */
typedef struct reeve_maintained {
    bool needed;        /* maintenance was overdue for more than a second: no worker maintains the queue */
    int64_t since_ms;   /* the time since which it was overdue; 0: unknown */
    uint64_t expired;   /* worker sessions that had expired before the call */
    uint64_t recovered; /* tasks of dead workers that returned to the queue */
    uint64_t promoted;  /* scheduled tasks that became ready */
    uint64_t trimmed;   /* records that were deleted because of the queue's retention */
    bool more;          /* more is overdue: call again */
} reeve_maintained;

/*
 * Maintains a queue whose maintenance has been overdue for more than a second; otherwise it only looks, in one round
 * trip. A call handles about 10,000 tasks at most, in short steps of one round trip each, between which Redis serves
 * others. Recurring entries do not fire. Any number of clients and workers may maintain a queue at the same time.
 * *ret is written on success; it is all zero if nothing was overdue. REEVE_EINVAL, and the errors of every call.
 */
REEVE_API reeve_status reeve_maintain(reeve_client *client, const char *queue, reeve_maintained *ret);

#ifdef __cplusplus
}
#endif
#endif
