/*
 * turn_slots.h - a turn of a pool whose queues have several hash slots: one call for each slot. For the thread that
 * owns the batch.
 */
#ifndef RV_RUNNING_TURN_SLOTS_H
#define RV_RUNNING_TURN_SLOTS_H

#include "running/worker_state.h"

/* Settles the outcomes of all slots but that of the turn, which is to lease `want` tasks. Where it is to lease none, one of
 * the slots that have outcomes is that of the turn. */
reeve_status rv_turn_slots_settle_others(rv_thread *thread, unsigned want);

/* Wakes other threads for the queues that this one was woken for, and did not come to. */
void rv_turn_slots_pass_on(rv_thread *thread);

#endif
