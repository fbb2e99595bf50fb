#include "handlers/layers_run.h"

#include "handlers/task.h"

struct reeve_next {
    const reeve_layer *const *rest; /* those further in, ended by NULL */
    reeve_task *task;
    const reeve_handler *handler;
    bool called;
    const char *misuse; /* what its layer did wrong, or NULL */
};

static reeve_outcome fail_layer(reeve_task *task, const reeve_layer *layer, const char *misuse)
{
    return rv_task_failed(task, REEVE_OUTCOME_RETRY, "layer", "the layer \"%s\" %s", layer->name, misuse);
}

/* False: the task has an outcome. */
static bool run_before(const reeve_layer *layer, reeve_task *task)
{
    if (layer->before == NULL || !rv_layers_fits(layer, task->type)) return true;
    layer->before(task, layer->user);
    return task->outcome == REEVE_OUTCOME_NONE;
}

static void run_after(const reeve_layer *layer, reeve_task *task)
{
    if (layer->after != NULL && rv_layers_fits(layer, task->type)) layer->after(task, layer->user);
}

static reeve_outcome run_around(const reeve_layer *const *layers, reeve_task *task, const reeve_handler *handler)
{
    const reeve_layer *layer = layers[0];
    if (layer->run == NULL || !rv_layers_fits(layer, handler->type)) return rv_layers_run(layers + 1, task, handler);
    reeve_next next = {.rest = layers + 1, .task = task, .handler = handler};
    reeve_outcome returned = layer->run(task, &next, layer->user);

    if (next.misuse != NULL) return fail_layer(task, layer, next.misuse);
    return rv_task_take(task, returned, "layer", "the layer", layer->name);
}

static reeve_outcome run_layer(const reeve_layer *const *layers, reeve_task *task, const reeve_handler *handler)
{
    if (!run_before(layers[0], task)) return task->outcome;
    (void)run_around(layers, task, handler);
    run_after(layers[0], task);
    return task->outcome;
}

reeve_outcome rv_layers_run(const reeve_layer *const *layers, reeve_task *task, const reeve_handler *handler)
{
    if (layers == NULL || layers[0] == NULL) return rv_task_run(task, handler);
    if (handler->run_batch == NULL) return run_layer(layers, task, handler);
    rv_layers_run_batch(layers, &task, 1, handler);
    return rv_task_take_batch(task, handler->type);
}

reeve_outcome reeve_next_run(reeve_next *next, reeve_task *task)
{
    if (next->called) next->misuse = "ran what is further in twice (reeve_next_run)";
    if (task != next->task) next->misuse = "ran what is further in with another task (reeve_next_run)";
    if (next->misuse != NULL) return fail_layer(next->task, next->rest[-1], next->misuse);
    next->called = true;
    rv_task_forget(task);
    return rv_layers_run(next->rest, task, next->handler);
}

/* ---- around batch handlers --------------------------------------------------------------------------------------- */

struct reeve_next_batch {
    const reeve_layer *const *rest; /* those further in, ended by NULL */
    const reeve_handler *handler;
    size_t count; /* of the tasks that the layer got */
    bool called;
    const char *misuse; /* what its layer did wrong, or NULL */
};

static void run_around_batch(const reeve_layer *const *layers, reeve_task *const *tasks, size_t count,
                             const reeve_handler *handler)
{
    const reeve_layer *layer = layers[0];
    if (layer->run_batch == NULL || !rv_layers_fits(layer, handler->type)) {
        rv_layers_run_batch(layers + 1, tasks, count, handler);
        return;
    }
    reeve_next_batch next = {.rest = layers + 1, .handler = handler, .count = count};
    layer->run_batch(tasks, count, &next, layer->user);
    for (size_t i = 0; next.misuse != NULL && i < count; i++) (void)fail_layer(tasks[i], layer, next.misuse);
}

/* Returns how many tasks have no outcome; these are in ret. */
static size_t run_before_all(const reeve_layer *layer, reeve_task *const *tasks, size_t count, reeve_task **ret)
{
    size_t left = 0;
    for (size_t i = 0; i < count; i++)
        if (run_before(layer, tasks[i])) ret[left++] = tasks[i];
    return left;
}

static void run_attempts(const reeve_layer *const *layers, reeve_task *const *tasks, size_t count,
                         const reeve_handler *handler)
{
    reeve_task *left[REEVE_BATCH_SIZE_MAX];
    count = run_before_all(layers[0], tasks, count, left);
    if (count > 0) run_around_batch(layers, left, count, handler);
    for (size_t i = 0; i < count; i++) run_after(layers[0], left[i]);
}

void rv_layers_run_batch(const reeve_layer *const *layers, reeve_task *const *tasks, size_t count,
                         const reeve_handler *handler)
{
    if (layers == NULL || layers[0] == NULL)
        handler->run_batch(tasks, count, handler->user);
    else if (layers[0]->before == NULL && layers[0]->after == NULL)
        run_around_batch(layers, tasks, count, handler);
    else
        run_attempts(layers, tasks, count, handler);
}

void reeve_next_run_batch(reeve_next_batch *next, reeve_task *const *tasks, size_t count)
{
    if (next->called) next->misuse = "ran what is further in twice (reeve_next_run_batch)";
    if (count > next->count) next->misuse = "ran what is further in with more tasks than it got (reeve_next_run_batch)";
    if (next->misuse != NULL || count == 0) return;
    next->called = true;
    for (size_t i = 0; i < count; i++) rv_task_forget(tasks[i]);
    rv_layers_run_batch(next->rest, tasks, count, next->handler);
}

/* ---- in a consumer ----------------------------------------------------------------------------------------------- */

size_t rv_layers_run_before(const rv_layers *layers, reeve_task *task)
{
    size_t passed = 0;
    while (passed < layers->count) {
        if (!run_before(&layers->list[passed], task)) break;
        passed++;
    }
    return passed;
}

void rv_layers_run_after(const rv_layers *layers, size_t passed, reeve_task *task)
{
    for (size_t i = passed; i > 0; i--) run_after(&layers->list[i - 1], task);
}
