/*
 * recovery.h - a thread's connection is lost: connecting again, and what stands under its name then. For the thread
 * itself.
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
 * Compares the batch with what Redis says: marks what was accepted or refused, and adds what is held without being
 * known, to be given back. The thread is not idle in Redis any more. May be broken off by another lost connection, and
 * is then begun again: what it added to the batch is known then.
 */
reeve_status rv_recovery_recall(rv_thread *thread);

/* After a call that settled a single item failed, perhaps half way: if it stands nowhere it is the session's again. */
reeve_status rv_recovery_regain(rv_thread *thread, const rv_item *item);

#endif
