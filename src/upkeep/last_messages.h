/*
 * last_messages.h - what the last outcomes of a worker or consumer are still to tell other tasks when it ends: it may
 * have been the last process that serves its queues.
 */
#ifndef RV_UPKEEP_LAST_MESSAGES_H
#define RV_UPKEEP_LAST_MESSAGES_H

#include "redis/conn.h"
#include "running/worker_state.h"

/*
 * Tells the tasks that wait in the worker's queues how others ended, and carries the messages of these queues to other
 * queues, until the deadline. One round trip if there are none. conn: open, with nothing pending. What fails is for
 * whoever maintains the queues next.
 */
void rv_last_messages_send(reeve_worker *worker, rv_conn *conn, int64_t deadline);

#endif
