/*
 * utilisation.h - which share of their time the threads of a pool run handlers: a mean over about the last minute.
 *
 * The mean is an exponential one, as the load average of Unix, with a time constant of a minute; in the first minute
 * it is the plain mean.
 */
#ifndef RV_UPKEEP_UTILISATION_H
#define RV_UPKEEP_UTILISATION_H

#include "running/worker_state.h"

/* For the heartbeat thread alone: measures all pools; now_us: rv_now_us. */
void rv_utilisation_measure(reeve_worker *worker, int64_t now_us);

/* Of all threads of the worker, from 0 to 1. */
double rv_utilisation_of_worker(const reeve_worker *worker);

#endif
