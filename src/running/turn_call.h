/*
 * turn_call.h - the call of a turn: which outcomes it settles, which queues it leases from, and how it is sent.
 * For the thread that owns the batch.
 */
#ifndef RV_RUNNING_TURN_CALL_H
#define RV_RUNNING_TURN_CALL_H

#include "running/company.h"
#include "running/worker_state.h"

/* The first queue, from `from` on, of which the batch may have a task; the number of the pool's queues: none. */
size_t rv_turn_call_next_queue(const rv_thread *thread, size_t from);

/* Groups the outcomes that the turn settles by queue, in thread->groups. Returns how many groups these are. */
size_t rv_turn_call_group(rv_thread *thread);

/* Sends the turn and waits for its reply. company: receives those whose turns go with it; NULL: it is not shared.
 * ret_groups: how many groups of outcomes it has. The reply is valid until the next call of the connection. */
reeve_status rv_turn_call_send(rv_thread *thread, unsigned want, size_t *ret_groups, rv_company *company,
                               const rv_reply **ret);

/* The reply of a turn has come. */
void rv_turn_call_answered(rv_thread *thread);

/* The queue at a place of the turn. */
size_t rv_turn_call_queue_at(const rv_thread *thread, size_t place);

/* Builds a turn that only leases, for the waiting place; rv_turn_take_lease takes its reply. Redis executes it when the
 * wait ends. This worker may be frozen or cut off then, and only an existing session shows that it is not. */
void rv_turn_call_build_lease(rv_thread *thread, unsigned want);

#endif
