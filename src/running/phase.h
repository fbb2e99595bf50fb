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

#endif
