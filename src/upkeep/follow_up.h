/*
 * follow_up.h - the work that maintain.lua finds to be due and leaves to other scripts: tasks of dead sessions go back
 * (reap.lua), and tasks are told how their parents ended (fan.lua). The scheduler's thread only.
 */
#ifndef RV_UPKEEP_FOLLOW_UP_H
#define RV_UPKEEP_FOLLOW_UP_H

#include "redis/conn.h"
#include "running/worker_state.h"

/*
 * Sends the scripts that the replies of maintain.lua called for (dead and ends of the scheduler, count places), again
 * and again for a while, and sets when the queues are to be maintained again. Notes which queues have messages to
 * other queues. False: the connection was lost; the queues are to be maintained at once.
 */
bool rv_follow_up_run(reeve_worker *worker, rv_conn *conn, size_t count);

#endif
