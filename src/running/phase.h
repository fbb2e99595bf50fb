/*
 * phase.h - changes of a worker's phase (rv_phase in worker_state.h).
 */
#ifndef RV_RUNNING_PHASE_H
#define RV_RUNNING_PHASE_H

#include "running/worker_state.h"

/* Goes down the list of the phases, and never up; rings every thread of the worker. */
void rv_phase_set(reeve_worker *worker, rv_phase phase);

/* From running to quiet; false: it did not run. */
bool rv_phase_quiet(reeve_worker *worker);

/* From quiet to running; fine for one that runs. REEVE_ESTATE: it stops or was not started, or a newer release of
 * reeve changed the format of the data. */
reeve_status rv_phase_resume(reeve_worker *worker, rv_error *error);

/* "running", "quiet" or "stopping". A worker that drains its tasks before it stops is stopping, too. Any thread. */
const char *rv_phase_word(const reeve_worker *worker);

/* Whether the worker leases tasks, as far as it knows: it is running, is connected to Redis, and Redis has accepted its
 * last heartbeat. Any thread. */
bool rv_phase_is_leasing(const reeve_worker *worker);

#endif
