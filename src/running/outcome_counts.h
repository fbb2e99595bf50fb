/*
 * outcome_counts.h - adds settled outcomes to the statistics of a worker (reeve_worker_stats).
 */
#ifndef RV_RUNNING_OUTCOME_COUNTS_H
#define RV_RUNNING_OUTCOME_COUNTS_H

#include "running/worker_state.h"

typedef struct rv_outcome_counts {
    uint64_t completed, failed, dead, given_back, refused;
} rv_outcome_counts;

/* Adds one outcome that Redis has accepted or refused. */
void rv_outcome_counts_add(rv_outcome_counts *counts, const rv_settlement *outcome, bool refused);

/* Whether the tally of a queue counts any of them (protocol/tally.h). */
bool rv_outcome_counts_have_tally(const rv_outcome_counts *counts);

/* Adds them to the worker's. Any thread. */
void rv_outcome_counts_publish(const rv_outcome_counts *counts, rv_stats *stats);

#endif
