/*
 * utilisation.h - which share of their time the threads of a pool run handlers: means over about the last 1, 5 and 15
 * minutes.
 *
 * The means are exponential ones, as the load average of Unix. While the worker is younger than the time of a mean, it is
 * the plain mean.
 */
#ifndef RV_UPKEEP_UTILISATION_H
#define RV_UPKEEP_UTILISATION_H

#include "running/worker_state.h"

/* For the heartbeat thread alone: measures all pools; now_us: rv_now_us. */
void rv_utilisation_measure(reeve_worker *worker, int64_t now_us);

/* How long the threads of a pool have run handlers since they started; now_us: rv_now_us. Any thread. */
int64_t rv_utilisation_busy_us(const rv_pool *pool, int64_t now_us);

/* Of all threads of the worker, from 0 to 1. */
double rv_utilisation_of_worker(const reeve_worker *worker);

#endif
