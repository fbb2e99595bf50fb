/*
 * early.h - notices on the control channel that overtake their tasks. A task is cancelled, or its lease is ended by
 * hand, while the reply that hands it to a thread is still on its way: the keeper remembers the notice, and looks for
 * the task in the batches again, soon at first and then less often. By the time it forgets the notice, a reply that has
 * not come was given up, and its tasks were read anew.
 */
#ifndef RV_UPKEEP_EARLY_H
#define RV_UPKEEP_EARLY_H

#include "running/worker_state.h"
#include "upkeep/cancel_running.h"

/* No thread of the worker has this task: remembers that it was cancelled. Does nothing for a queue that the worker does
 * not serve. The keeper. */
void rv_early_add_cancel(reeve_worker *worker, const char *queue, const char *id);

/* The same of the end of a lease; or its outcome may be on its way. */
void rv_early_add_revoke(reeve_worker *worker, const rv_revoke *revoke);

/* The worker did not hear the control channel until now: it asks Redis what it has missed, and, as tasks may be on
 * their way, asks again at each look until these have come. The keeper. */
void rv_early_note_missed(reeve_worker *worker);

/* Looks for the tasks if it is time, and acts on those that have come. Returns when to look again: monotonic ms, or
 * RV_FOREVER. The keeper. */
int64_t rv_early_look(reeve_worker *worker);

#endif
