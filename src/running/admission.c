#include "running/admission.h"

#include "base/lock.h"
#include "running/pool_demand.h"

static bool gives_up(void *context)
{
    return rv_admission_gives_up(context);
}

/* The start and the run time of a task are those of its handler: the wait does not count. */
static void note_wait(rv_thread *t, rv_item *const *items, size_t count, int64_t waited_us)
{
    rv_pool_demand_note_gate(t, waited_us);
    rv_lock(&t->batch.lock);
    t->batch.running_since_ms = rv_now_ms();
    for (size_t i = 0; i < count; i++) items[i]->gate_us = waited_us;
    rv_unlock(&t->batch.lock);
}

static bool wait_in_turn(rv_thread *t, const rv_handler *handler, const rv_item *item, bool alone)
{
    if (alone && !rv_alone_enter(t, item)) return false;
    /* Checked without a gate, too: setting up the thread may have taken long. */
    if (handler->plugin != NULL ? rv_plugin_gate_enter(handler->plugin, gives_up, t) : true) {
        if (!gives_up(t)) return true;
        if (handler->plugin != NULL) rv_plugin_gate_leave(handler->plugin);
    }
    rv_alone_leave(t, false);
    return false;
}

bool rv_admission_wait(rv_thread *t, const rv_handler *handler, unsigned max_crashes, rv_item *const *items,
                       size_t count)
{
    /* A crash in a process of its own is that of the task. A call of many has several tasks only when none of them has crashed. */
    bool alone = t->isolated == NULL && rv_alone_is_due(items[0], max_crashes);
    if (!alone && !rv_admission_has_gate(handler)) return !gives_up(t);
    int64_t begin_us = rv_now_us();
    bool entered = wait_in_turn(t, handler, items[0], alone);
    note_wait(t, items, count, rv_now_us() - begin_us);
    return entered;
}

void rv_admission_end(rv_thread *t, const rv_handler *handler)
{
    if (handler->plugin != NULL) rv_plugin_gate_leave(handler->plugin);
    rv_alone_leave(t, !atomic_load(&t->stop));
}

void rv_admission_recheck(reeve_worker *worker)
{
    rv_lock(&worker->lock); /* closed sets leave the list under it */
    for (const rv_handler_set *set = worker->set; set != NULL; set = set->older)
        for (size_t i = 0; i < set->plugin_count; i++) rv_plugin_gate_recheck(set->plugins[i]);
    rv_unlock(&worker->lock);
    if (atomic_load(&worker->alone.owner) != NULL) rv_alone_recheck(worker);
}
