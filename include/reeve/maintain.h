/*
 * maintain.h - maintenance of a queue that no worker serves.
 *
 * Workers maintain the queues that they serve: scheduled tasks become ready, tasks of dead workers go back to the
 * queue, old records go. While no worker serves a queue nothing of this happens: the tasks of a worker that died stay
 * "running". reeve_maintain does it from a client. `reeve` calls it for each queue that a command is about.
 */
#ifndef REEVE_MAINTAIN_H
#define REEVE_MAINTAIN_H

#include "client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What reeve_maintain found and did. */
typedef struct reeve_maintained {
    bool needed;        /* something was overdue for more than a second: nobody maintains the queue */
    int64_t since_ms;   /* since when it is overdue, ms since the epoch; 0: not known */
    uint64_t expired;   /* sessions of workers that had expired before the call */
    uint64_t recovered; /* tasks of dead workers that went back to the queue */
    uint64_t promoted;  /* scheduled tasks that became ready */
    uint64_t trimmed;   /* records that were older, or more, than are kept */
    bool more;          /* there is more to do; call again */
} reeve_maintained;

/*
 * Does what is overdue in a queue, when it has been overdue for more than a second; else one read. It does at most
 * some 10,000 tasks, in short steps, so that Redis serves others in between; each step is one round trip. Recurring
 * entries are left to workers. Any number of clients and workers may do so at once. *ret is written on success, and is
 * all zero when nothing was overdue. REEVE_EINVAL, and what every call may return.
 */
REEVE_API reeve_status reeve_maintain(reeve_client *client, const char *queue, reeve_maintained *ret);

#ifdef __cplusplus
}
#endif
#endif
