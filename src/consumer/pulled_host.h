/*
 * pulled_host.h - the calls of a pulled task to Redis (task.h): those of a worker's thread, behind the consumer's gate.
 */
#ifndef RV_CONSUMER_PULLED_HOST_H
#define RV_CONSUMER_PULLED_HOST_H

#include "consumer/consumer_state.h"

/* Makes the consumer the host of the task, which was prepared as that of a thread. */
void rv_pulled_host_take(rv_pulled *pulled);

#endif
