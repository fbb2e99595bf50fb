/*
 * redis_report.h - logs that Redis is lost, back, or refuses work: once each for a whole worker, whichever of its
 * threads notice it. Any thread; nothing blocks.
 */
#ifndef RV_RUNNING_REDIS_REPORT_H
#define RV_RUNNING_REDIS_REPORT_H

#include "running/worker_state.h"

/*
 * An outage. An attempt to connect begins with rv_redis_report_try, and ends with rv_redis_report_up or
 * rv_redis_report_down (words: the error). A failed attempt is not logged when another one has succeeded since it
 * began: only the next failed attempt is.
 */
unsigned rv_redis_report_try(const reeve_worker *worker);
void rv_redis_report_down(reeve_worker *worker, unsigned tried, const char *words);
void rv_redis_report_up(reeve_worker *worker,
                        const rv_conn *conn); /* conn: what was opened, or NULL: a reconnect is counted */

/* Connections are lost again and again although Redis can be reached: logged once, until one of them was of use. */
void rv_redis_report_lost(reeve_worker *worker, const char *words);
void rv_redis_report_used(reeve_worker *worker);

/* Redis answers with errors (its disk is full, for instance): the first one is logged (message: what was refused;
 * words: the error), and the end, which is a heartbeat that Redis accepts. */
void rv_redis_report_refusal(reeve_worker *worker, const char *message, const char *words);
void rv_redis_report_acceptance(reeve_worker *worker);

/* Counts a session that was gone from Redis before its worker ended it. */
void rv_redis_report_session_lost(reeve_worker *worker);

#endif
