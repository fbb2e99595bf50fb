/* Deadlines: what waits past its own dies. */
#include "model/model_dependencies.h"

static bool is_before(const model_task *one, const model_task *other, int queue)
{
    if (one->expires_ms != other->expires_ms) return one->expires_ms < other->expires_ms;
    return model_is_before(model_slot(queue, one), model_slot(queue, other));
}

static model_task *first_to_expire(int queue)
{
    model_task *first = NULL;
    for (int id = 0; id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        if (!task->expires_ms || task->expires_ms > model.now_ms) continue;
        if (!first || is_before(task, first, queue)) first = task;
    }
    return first;
}

static void expire(int queue, model_task *task)
{
    if (task->state == BLOCKED) COVER(EXPIRES_BLOCKED);
    if (task->state == SCHEDULED) COVER(EXPIRES_SCHEDULED);
    if (task->state == PARKED) COVER(EXPIRES_PARKED);
    if (task->state == READY) COVER(EXPIRES_READY);
    model_die_waiting(queue, task, EXPIRED);
}

bool model_expire_some(int queue, int max)
{
    int count = 0;
    for (model_task *task; count < max && (task = first_to_expire(queue)) != NULL; count++) {
        bool waits = model_waits(task->state);
        if (!waits) COVER(EXPIRES_NOT);
        task->expires_ms = 0;
        if (waits) expire(queue, task);
    }
    return count == max;
}
