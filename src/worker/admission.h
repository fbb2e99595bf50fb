/*
 * admission.h - the last step before a handler is called: it waits for a place among its plugin's running handlers
 * (reeve_plugin.concurrency), and, when crashes have left it behind, until nothing else runs (alone.h).
 *
 * The task is leased, and none of its limits counts yet. It may be cancelled, its session may be lost, or its worker
 * may take no more tasks while it waits: then the wait ends, and the handler is not called.
 */
#ifndef RV_ADMISSION_H
#define RV_ADMISSION_H

#include "worker/state.h"

/*
 * Waits for a place for a call of the handler with these running items, and notes in them how long it waited. True:
 * rv_admission_leave is called after the handler. max_crashes: of these tasks. False: it is not to be called. For the thread that owns the items.
 */
bool rv_admission_enter(rv_thread *thread, const rv_handler *handler, unsigned max_crashes, rv_item *const *items,
                        size_t count);
void rv_admission_leave(rv_thread *thread, const rv_handler *handler);

/* Something has changed that may end a wait: the phase, or what a thread was told. Any thread, with no lock held. */
void rv_admission_recheck(reeve_worker *worker);

#endif
