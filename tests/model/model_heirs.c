/* A task that takes the place of another one takes over those that wait for it (lib/heirs.lua). */
#include "model/model_kin.h"

static void hand_edge(int child, int parent, int heir)
{
    model_task *task = model_task_of(QUEUE_OF(child), ID_OF(child));
    model_edge *from = &task->edges[parent], *to = &task->edges[heir];
    if (!from->policy) return;
    if (!to->policy || to->how != '-') {
        *to = *from;
    } else {
        if (task->state == BLOCKED) task->pending--;
        COVER(HEIR_BOTH);
    }
    *from = (model_edge){0};
}

static bool hand_set(int queue, int from, int to, int64_t old[HANDLES], int64_t new[HANDLES])
{
    bool any = false;
    for (int child = 0; child < HANDLES; child++) {
        if (!old[child]) continue;
        if (QUEUE_OF(child) == queue)
            hand_edge(child, from, to);
        else
            model_send(queue, 'M', "%s %s %lld %s", model_handle(child), model_handle(from),
                       (long long)(old[child] / PLACES), model_id(ID_OF(to)));
        if (QUEUE_OF(child) != queue) COVER(HEIR_ACROSS);
        if (!new[child]) new[child] = old[child];
        old[child] = 0;
        any = true;
    }
    return any;
}

void model_hand_over(int queue, int id, int heir)
{
    if (id >= IDS || !model.queues[queue].parents[id].linked) return;
    model_parent *old = &model.queues[queue].parents[id], *new = &model.queues[queue].parents[heir];
    int from = HANDLE(queue, id), to = HANDLE(queue, heir);
    bool any = hand_set(queue, from, to, old->children, new->children);
    any = hand_set(queue, from, to, old->patient, new->patient) || any;
    if (!any) return;
    old->linked = false;
    new->linked = true;
    COVER(HEIR);
}

void model_inherit(int child, int parent, int64_t number, int heir)
{
    const model_task *task = model_task_of(QUEUE_OF(child), ID_OF(child));
    const model_edge *from = &task->edges[parent];
    int to = HANDLE(QUEUE_OF(parent), heir);
    bool waits = task->edges[to].policy && task->edges[to].how == '-';
    if (from->policy && from->how == '-' && (!from->number || from->number == number)) {
        char policy = from->policy;
        bool renews = task->state == BLOCKED && !waits;
        hand_edge(child, parent, to);
        if (renews) {
            model_send(QUEUE_OF(child), 'R', "%s %s %c", model_handle(child), model_handle(to), policy);
            model_task_of(QUEUE_OF(child), ID_OF(child))->edges[to].number = -1;
        }
        waits = task->state == BLOCKED;
    }
    if (waits) return;
    model_send(QUEUE_OF(child), 'U', "%s %s", model_handle(child), model_handle(to));
    COVER(HEIR_LEFT);
}
