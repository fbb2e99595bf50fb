/*
 * turn_outcomes.h - what Redis said to the outcomes of a turn. For the thread that owns the batch.
 */
#ifndef RV_RUNNING_TURN_OUTCOMES_H
#define RV_RUNNING_TURN_OUTCOMES_H

#include "running/worker_state.h"

/* Marks the items whose outcomes were refused. groups: how many groups the call had (rv_turn_call_group). */
void rv_turn_outcomes_note_refused(rv_thread *thread, const rv_reply *refused, size_t groups);

/* Counts the outcomes of the finished items, accepted and refused, and logs those that were refused. */
void rv_turn_outcomes_count(rv_thread *thread, int64_t now_ms);

#endif
