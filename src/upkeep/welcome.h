/*
 * welcome.h - the first look at Redis, when a worker starts.
 */
#ifndef RV_UPKEEP_WELCOME_H
#define RV_UPKEEP_WELCOME_H

#include "running/worker_state.h"

/*
 * Connects once, before the threads do. A Redis that is not there is waited for later: REEVE_OK. One that refuses the user
 * or password of the URL, or wants them: REEVE_ECONNECT, with words. Warns, once, of a Redis that does not keep what it is
 * given. On the heartbeats' connection, before its thread is started. Blocks for 2 s at most.
 */
reeve_status rv_welcome(reeve_worker *worker);

#endif
