#include "worker/admission.h"

#include "worker/lock.h"

static bool gives_up(void *context)
{
    const rv_thread *t = context;
    return rv_worker_phase(t->worker) != RV_PHASE_RUNNING || atomic_load(&t->stop);
}

/* What is told of a running task (since when, how long) is told of its handler. */
static void note_wait(rv_thread *t, rv_item *const *items, size_t count, int64_t waited_us)
{
    rv_lock(&t->batch.lock);
    t->batch.running_since_ms = rv_now_ms();
    for (size_t i = 0; i < count; i++) items[i]->gate_us = waited_us;
    rv_unlock(&t->batch.lock);
}

bool rv_admission_enter(rv_thread *t, const rv_handler *handler, rv_item *const *items, size_t count)
{
    /* (Asked without a gate, too: to set the thread up may have taken long.) */
    if (handler->plugin == NULL || handler->plugin->plugin.concurrency == 0) return !gives_up(t);
    int64_t begin_us = rv_now_us();
    bool entered = rv_plugin_enter(handler->plugin, gives_up, t);
    note_wait(t, items, count, rv_now_us() - begin_us);
    return entered;
}

void rv_admission_leave(const rv_handler *handler)
{
    if (handler->plugin != NULL) rv_plugin_leave(handler->plugin);
}

void rv_admission_recheck(reeve_worker *worker)
{
    for (size_t i = 0; i < worker->plugin_count; i++) rv_plugin_recheck(worker->plugins[i]);
}
