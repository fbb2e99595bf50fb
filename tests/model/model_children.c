/* Tasks that wait for others: what becomes of them when their parents end. As src/lua/lib/dependency_edges.lua and
 * dependency_death.lua. */
#include "model/model_dependencies.h"

enum { LETS_GO = 3 };

static void forget_waiting(model_task *task)
{
    task->waits = task->for_death = false;
    task->pending = 0;
    task->due_ms = 0;
}

void model_unlink(int queue, const model_task *task)
{
    int child = HANDLE(queue, model_slot(queue, task));
    for (int parent = 0; parent < OPEN; parent++) {
        if (!task->edges[parent].policy || task->edges[parent].how != '-') continue;
        if (QUEUE_OF(parent) == queue)
            model_unregister(parent, child, INT64_MAX);
        else
            model_send(queue, 'U', "%s %s", model_handle(child), model_handle(parent));
    }
}

void model_leave_parents(int queue, model_task *task)
{
    model_unlink(queue, task);
    forget_waiting(task);
}

void model_unblock(int queue, int id)
{
    model_task *task = model_task_of(queue, id);
    int64_t due = task->due_ms;
    /* The clock may have gone back since it came. */
    if (task->timing == DELAY && due > model.now_ms + task->timing_ms) {
        due = model.now_ms + task->timing_ms;
        COVER(BACK_BLOCKED);
    }
    model.told += LETS_GO;
    forget_waiting(task);
    model_note(task);
    if (due > model.now_ms) {
        model_move(task, SCHEDULED, due);
        COVER(DEPENDENCY_SCHEDULED);
    } else {
        model_move(task, READY, 0);
        if (task->timing != DUE || task->timing_ms != 0) task->timing_ms = model.now_ms;
        task->timing = DUE;
        COVER(DEPENDENCY_READY);
    }
}

void model_not_needed(int queue, int id)
{
    model.told += LETS_GO;
    COVER(DEPENDENCY_NOT_NEEDED);
    model_unlock(queue, id, true);
    model_release(queue, id);
    model_forget(model_task_of(queue, id));
    model_tell_ended(queue, id, DELETED_STATE);
}

static void die(int queue, model_task *task, int error)
{
    task->error = error;
    task->failed_ms = model.now_ms;
    model_note(task);
    model_end(queue, task, DEAD);
    if (task->state != NONE) (void)model_trim_count(queue, DEAD, 16);
    model.queues[queue].counters[2]++;
    model_tell_ended(queue, model_slot(queue, task), DEAD);
}

void model_die_waiting(int queue, model_task *task, int error)
{
    if (task->state == BLOCKED) model_leave_parents(queue, task);
    task->placed = false;
    task->flagged = true;
    model_has_begun(task);
    die(queue, task, error);
}

void model_die_of(int queue, int id, int parent, int state)
{
    model_task *task = model_task_of(queue, id);
    model_leave_parents(queue, task);
    die(queue, task, DIED_OF(parent, state));
    if (state == UNKNOWN_STATE)
        COVER(DEPENDENCY_DIES_UNKNOWN);
    else
        COVER(DEPENDENCY_DIES);
}

static void cascade(int queue, int id)
{
    model_task *task = model_task_of(queue, id);
    model_leave_parents(queue, task);
    model_tell_children(queue, id, CASCADE);
    model_end(queue, task, CANCELLED);
    if (task->state != NONE) (void)model_trim_count(queue, CANCELLED, 16);
    model_tell_ended(queue, id, CANCELLED);
    COVER(DEPENDENCY_CASCADES);
}

char model_end_letter(int state)
{
    return state == NONE ? '-' : state == COMPLETED ? 'c' : state == DEAD ? 'd' : 'x';
}

static bool end_edge(int child, int parent, int state, int64_t number)
{
    int queue = QUEUE_OF(child), id = ID_OF(child);
    model_task *task = model_task_at(child);
    model_edge *edge = &task->edges[parent];
    if (edge->policy == 'w' && (state == DEAD || state == CANCELLED)) return false;
    edge->how = model_end_letter(state);
    if (task->state != BLOCKED) {
        COVER(DEPENDENCY_LATE);
    } else if (state == COMPLETED || state == GONE_STATE || (edge->policy == 'g' && state != UNKNOWN_STATE)) {
        bool last = --task->pending <= 0, not_needed = last && task->for_death;
        if (not_needed) model_not_needed(queue, id);
        if (state == COMPLETED && !not_needed) model_read(child, parent, QUEUE_OF(parent) == queue ? 0 : number);
        if (last && !not_needed) model_unblock(queue, id);
        return state == COMPLETED && !not_needed;
    } else if (edge->policy == 'x' && state != UNKNOWN_STATE) {
        COVER(DEPENDENCY_DEATH);
        model_unlink(queue, task);
        model_unblock(queue, id);
    } else {
        model_die_of(queue, id, parent, state);
    }
    return false;
}

bool model_deliver(int child, int parent, int state, int64_t number)
{
    model_task *task = model_task_at(child);
    model_edge *edge = &task->edges[parent];
    if (edge->policy && edge->number && number && edge->number != number) {
        COVER(DEPENDENCY_EARLIER);
        if (edge->how == '-') COVER(DEPENDENCY_EARLIER_OPEN);
    } else if (!edge->policy || edge->how != '-') {
        COVER(DEPENDENCY_TWICE);
    } else if (state != CASCADE) {
        return end_edge(child, parent, state, number);
    } else {
        edge->how = 'x';
        if (task->state == BLOCKED) cascade(QUEUE_OF(child), ID_OF(child));
    }
    return false;
}
