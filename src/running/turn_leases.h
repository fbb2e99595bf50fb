/*
 * turn_leases.h - the leases of a turn go into the batch, and the sessions that it did not find are noted. For
 * the thread that owns the batch.
 */
#ifndef RV_RUNNING_TURN_LEASES_H
#define RV_RUNNING_TURN_LEASES_H

#include "protocol/turn_reply.h"
#include "running/worker_state.h"

/* Notes the sessions that are gone, or have not begun. The tasks that could not be leased are still ready; the caller
 * takes another turn. */
void rv_turn_leases_note_gone(rv_thread *thread, const rv_reply *gone);

/* Reads the leases of a reply, and appends them to the batch. want: how many were asked for. */
void rv_turn_leases_take(rv_thread *thread, const rv_turn_reply *reply, unsigned want);

/* The two steps of it, for leases that are read already: replaces the places in the turn, by which the reply names
 * queues, by indexes of the pool's queues; appends thread->leases to the batch, where items that were kept stay in
 * front. */
void rv_turn_leases_note_places(rv_thread *thread, size_t count);
void rv_turn_leases_fill(rv_thread *thread, size_t count, unsigned want);

/* Logs that a lease could not be read. */
void rv_turn_leases_note_malformed(const rv_thread *thread);

#endif
