#include "consumer/consumer_layers.h"

#include "base/layout.h"
#include "consumer/consumer_gate.h"
#include "consumer/consumer_watch.h"
#include "consumer/pulled.h"
#include "handlers/layers_run.h"
#include "running/forked.h"
#include "running/turn.h"

static const rv_layers *layers_of(const reeve_consumer *c)
{
    return &c->worker->set->layers;
}

reeve_status reeve_consumer_add_layer_sized(reeve_consumer *c, const reeve_layer *given, size_t layer_size)
{
    reeve_layer layer;
    if (c == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = rv_consumer_gate_enter(c, 0);
    if (status != REEVE_OK) return status;
    status = RV_LAYOUT_READ(&layer, given, layer_size, "the layer", &c->error);
    if (status == REEVE_OK) status = rv_layers_add(&c->worker->set->layers, &layer, &c->error);
    rv_consumer_gate_leave(c);
    return status;
}

/* ---- before ---------------------------------------------------------------------------------------------------- */

/* An outcome that cannot be sent now goes with the next call. */
static void settle(reeve_consumer *c, reeve_task *const *tasks, unsigned count)
{
    if (rv_consumer_gate_enter(c, 0) != REEVE_OK) return;
    for (unsigned i = 0; i < count; i++) {
        rv_pulled *p = rv_pulled_of(tasks[i]);
        (void)rv_pulled_finish(p, p->call.task.outcome);
        rv_pulled_release(p);
    }
    if (rv_pulled_any_finished(c) && rv_turn_run(c->thread, 0)) c->finished_bytes = 0;
    rv_consumer_watch_end_lease(c, true); /* the program gets fewer than it asked for */
    rv_consumer_gate_leave(c);
}

unsigned rv_consumer_layers_before(reeve_consumer *c, reeve_task **tasks, unsigned count)
{
    reeve_task *ended[REEVE_CONSUMER_MAX];
    unsigned left = 0, ended_count = 0;
    if (layers_of(c)->count == 0) return count;
    for (unsigned i = 0; i < count; i++) {
        rv_pulled_of(tasks[i])->layers_passed = rv_layers_run_before(layers_of(c), tasks[i]);
        if (tasks[i]->outcome == REEVE_OUTCOME_NONE) {
            tasks[left++] = tasks[i];
            continue;
        }
        rv_consumer_layers_after(c, tasks[i], tasks[i]->outcome);
        ended[ended_count++] = tasks[i];
    }
    if (ended_count > 0) settle(c, ended, ended_count);
    return left;
}

/* ---- after ----------------------------------------------------------------------------------------------------- */

void rv_consumer_layers_after(const reeve_consumer *c, reeve_task *task, reeve_outcome outcome)
{
    rv_pulled *p = rv_pulled_of(task);
    if (layers_of(c)->count == 0 || p->chosen != REEVE_OUTCOME_NONE || rv_worker_is_forked(c->worker)) return;
    if (outcome == REEVE_OUTCOME_NONE || outcome != task->outcome) return;
    p->chosen = outcome;
    rv_layers_run_after(layers_of(c), p->layers_passed, task);
}
