/*
 * welcome.h - the first look at Redis, when a worker starts.
 */
#ifndef RV_UPKEEP_WELCOME_H
#define RV_UPKEEP_WELCOME_H

#include "running/worker_state.h"

/*
 * Makes one attempt to connect before the threads do. REEVE_OK also when Redis cannot be reached: the threads wait
 * for it. REEVE_ECONNECT, with a message: Redis refuses the user or password of the URL, or requires them. Warns
 * once of a Redis that may lose data, and of another worker with the same name. On the connection of the heartbeats, before its thread starts. Blocks for at
 * most 2 s.
 */
reeve_status rv_welcome(reeve_worker *worker);

#endif
