/* Unique keys: who has one, and until when. */
#include "model/model.h"

int model_holder(int queue, int key)
{
    model_queue *q = &model.queues[queue];
    if (q->locks[key].ends_ms > 0 && model.now_ms > q->locks[key].ends_ms) {
        q->locks[key].holder = 0;
        q->locks[key].ends_ms = 0;
        COVER(UNIQUE_TIME);
    }
    return q->locks[key].holder - 1;
}

void model_lock(int queue, int id)
{
    const model_task *task = model_task_of(queue, id);
    model_queue *q = &model.queues[queue];
    q->locks[task->unique].holder = id + 1;
    q->locks[task->unique].ends_ms = task->held == FOR_A_TIME ? model.now_ms + task->hold_ms : 0;
}

void model_unlock(int queue, int id, bool by_hand)
{
    const model_task *task = model_task_of(queue, id);
    model_queue *q = &model.queues[queue];
    if (!task->unique || (task->held == FOR_A_TIME && !by_hand)) return;
    if (model_holder(queue, task->unique) != id) return;
    q->locks[task->unique].holder = 0;
    q->locks[task->unique].ends_ms = 0;
    COVER(UNIQUE_FREED);
}

int model_other_holder(int queue, int id)
{
    const model_task *task = model_task_of(queue, id);
    int holder = task->unique ? model_holder(queue, task->unique) : -1;
    return holder == id ? -1 : holder;
}
