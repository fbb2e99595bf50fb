/*
 * recovery.h - recovers a thread whose connection was lost: connects again, and finds out which leases it has. For
 * the thread itself.
 */
#ifndef RV_RUNNING_RECOVERY_H
#define RV_RUNNING_RECOVERY_H

#include "running/worker_state.h"

/* Nothing more can be delivered, or need be. */
bool rv_recovery_gives_up(const rv_thread *thread);

/* Connects, for as long as it takes; false when the worker ends first. */
bool rv_recovery_connect(rv_thread *thread);

/*
 * After a command whose connection was lost (REEVE_ELOST): from the second such loss in a row on it pauses, ever
 * longer, for what hangs up on a command does so again; and it is logged. Until a task is leased, or a wait ends well.
 */
void rv_recovery_note_loss(rv_thread *thread);
void rv_recovery_note_use(rv_thread *thread);

/*
 * Compares the batch with the leases in Redis: marks outcomes as accepted or refused, and adds unknown leases, to be
 * given back. Removes the registration of an idle thread. If the connection is lost again, the caller repeats it;
 * items that it added are known then.
 */
reeve_status rv_recovery_recall(rv_thread *thread);

/* After a call that settled a single item failed, and may have been executed in part: regain.lua gives the session
 * the lease back if it was lost. */
reeve_status rv_recovery_regain(rv_thread *thread, const rv_item *item);

#endif
