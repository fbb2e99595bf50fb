/*
 * heartbeat.h - the heartbeat thread: it renews the sessions and the worker's record, and does nothing else.
 */
#ifndef RV_UPKEEP_HEARTBEAT_H
#define RV_UPKEEP_HEARTBEAT_H

#include "running/worker_state.h"

reeve_status rv_heartbeat_open(reeve_worker *worker, rv_error *error);
reeve_status rv_heartbeat_start(reeve_worker *worker, rv_error *error);
void rv_heartbeat_fini(reeve_worker *worker);

/* The time between two heartbeats, and the deadline of each. */
int64_t rv_heartbeat_interval_ms(const reeve_worker *worker);

/* One attempt to connect; one round of heartbeats on the open connection. To be called by the heartbeat thread, or
 * after its end by the thread that joined it. */
bool rv_heartbeat_connect(reeve_worker *worker, int64_t deadline);
bool rv_heartbeat_send(reeve_worker *worker, int64_t deadline);

#endif
