/*
 * admission.h - the last step before a handler is called: it waits for a place among its plugin's running handlers
 * (reeve_plugin.concurrency), and, when crashes have left it behind, until nothing else runs (alone.h).
 *
 * The task is leased, and none of its limits counts yet. It may be cancelled, its session may be lost, or its worker
 * may take no more tasks while it waits: then the wait ends, and the handler is not called.
 */
#ifndef RV_RUNNING_ADMISSION_H
#define RV_RUNNING_ADMISSION_H

#include "handlers/plugin.h"
#include "running/alone.h"
#include "running/worker_state.h"

/* The parts of enter and leave for handlers with a gate and tasks that run alone. */
bool rv_admission_wait(rv_thread *thread, const rv_handler *handler, unsigned max_crashes, rv_item *const *items,
                       size_t count);
void rv_admission_end(rv_thread *thread, const rv_handler *handler);

/* What ends a wait: the thread is to begin nothing. */
static inline bool rv_admission_gives_up(const rv_thread *thread)
{
    return rv_thread_phase(thread) != RV_PHASE_RUNNING || atomic_load(&thread->stop) || rv_alone_bars(thread);
}

static inline bool rv_admission_has_gate(const rv_handler *handler)
{
    return handler->plugin != NULL && handler->plugin->plugin.concurrency != 0;
}

/*
 * Waits for a place for a call of the handler with these running items, and notes in them how long it waited. True:
 * rv_admission_leave is called after the handler. max_crashes: of these tasks. False: it is not to be called. For the
 * thread that owns the items. (Inline, because most tasks have nothing to wait for: of many in a call, each has crashed
 * only when it is called by itself.)
 */
static inline bool rv_admission_enter(rv_thread *thread, const rv_handler *handler, unsigned max_crashes,
                                      rv_item *const *items, size_t count)
{
    if (items[0]->lease.crashes == 0 && !rv_admission_has_gate(handler)) return !rv_admission_gives_up(thread);
    return rv_admission_wait(thread, handler, max_crashes, items, count);
}

static inline void rv_admission_leave(rv_thread *thread, const rv_handler *handler)
{
    if (rv_admission_has_gate(handler) || rv_alone_is_owner(thread)) rv_admission_end(thread, handler);
}

/* The phase or a stop flag has changed: waiting threads check whether they go on. Any thread, with no lock held. */
void rv_admission_recheck(reeve_worker *worker);

#endif
