/*
 * failover_watch.h - a worker's thread that listens to Sentinel: when another server becomes the master, all threads
 * leave the old one at once, also those that wait there. Only for redis-sentinel:// URLs.
 */
#ifndef RV_UPKEEP_FAILOVER_WATCH_H
#define RV_UPKEEP_FAILOVER_WATCH_H

#include "running/worker_state.h"

/* Starts the thread, where the URL has Sentinels. REEVE_OK, REEVE_ESYSTEM, REEVE_ENOMEM. */
reeve_status rv_failover_watch_start(reeve_worker *worker, rv_error *error);
/* Ends it; nothing where it does not run. */
void rv_failover_watch_end(reeve_worker *worker);

#endif
