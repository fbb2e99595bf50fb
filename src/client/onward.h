/*
 * onward.h - queues that heard of ends by messages (outbox.h), and whose own tasks are to hear of what followed there. A
 * task that was told that its parent died may have died, too, and others wait for it. Who serves its queue tells them;
 * nobody may serve it.
 */
#ifndef RV_CLIENT_ONWARD_H
#define RV_CLIENT_ONWARD_H

#include "protocol/keys.h"
#include "redis/conn.h"

#define RV_ONWARD_MAX 16  /* queues of one call; others are left to those who maintain them */
#define RV_ONWARD_DEPTH 8 /* queues in a row */

typedef struct rv_onward {
    char queues[RV_ONWARD_MAX][REEVE_QUEUE_MAX + 1];
    size_t count;
} rv_onward;

/* A message to this task has been delivered. */
void rv_onward_add(rv_onward *onward, const char *handle);

/*
 * Keeps only the queues in which nobody has a session, and somebody is to be told. The connection is open, with nothing
 * pending. False: there is none, or the connection was lost.
 */
bool rv_onward_look(rv_onward *onward, rv_conn *conn, const char *ns, int64_t deadline);

#endif
