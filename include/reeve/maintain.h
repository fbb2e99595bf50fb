/*
 * maintain.h - maintenance of a queue that no worker serves.
 *
 * Workers maintain the queues that they serve: they make scheduled tasks ready when they are due, return tasks of
 * dead workers to the queue, delete records past their retention, and notify tasks of other queues that wait for ended
 * tasks. Nobody does this in a queue that no worker serves; there, tasks of a worker that died stay "running". A client
 * can maintain such a queue with reeve_maintain. The `reeve` command does so for each queue that its arguments name,
 * except `reeve doctor`.
 */
#ifndef REEVE_MAINTAIN_H
#define REEVE_MAINTAIN_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The result of reeve_maintain. */
typedef struct reeve_maintained {
    bool needed;        /* maintenance was overdue by more than a second, so probably no worker maintains the queue */
    int64_t since_ms;   /* the time since which it was overdue; 0: unknown */
    uint64_t expired;   /* worker sessions that had expired before the call */
    uint64_t recovered; /* tasks of dead workers that returned to the queue */
    uint64_t promoted;  /* scheduled tasks that became ready */
    uint64_t trimmed;   /* records that were deleted because of the queue's retention */
    bool more;          /* more is overdue: call again */
} reeve_maintained;

/*
 * Maintains a queue if its maintenance is overdue by more than a second. Otherwise the call changes nothing, and takes
 * one round trip. A call handles at most about 10,000 tasks, in steps of one round trip each, so that Redis serves
 * other clients in between. It does not fire recurring entries. Any number of clients and workers may maintain a queue
 * at the same time. *ret is written on success; it is all zero if nothing was overdue. REEVE_EINVAL: the name of the
 * queue is not valid; and the errors of every call (client.h).
 */
REEVE_API reeve_status reeve_maintain(reeve_client *client, const char *queue, reeve_maintained *ret);

#ifdef __cplusplus
}
#endif
#endif
