/* Edges come and go: of tasks that are enqueued, linked or retried, and by hand. As
 * src/lua/lib/dependency_register.lua. */
#include "model/model_dependencies.h"

static int count_edges(const model_task *task)
{
    int count = 0;
    for (int parent = 0; parent <= OPEN; parent++) count += task->edges[parent].policy != 0;
    return count;
}

static void note_bad(model_attached *ret, const model_edge_sent *edge, int state)
{
    bool bad =
        state == UNKNOWN_STATE || (state != NONE && state != COMPLETED && state != GONE_STATE && edge->policy != 'g');
    if (!bad || ret->died) return;
    ret->died = edge->parent + 1;
    ret->how = state;
    ret->decides = state == UNKNOWN_STATE ? 'f' : edge->policy;
}

static int attach_here(int parent, int child, const model_edge_sent *edge, int64_t number, model_states *states)
{
    int state = model_register(parent, child, edge, number, states);
    if (state != COMPLETED || model_state_of(parent, states) != COMPLETED) return state;
    model_read(child, parent, 0);
    model_add_reader(parent, child, 0);
    return state;
}

model_attached model_attach(int queue, int id, const model_edge_sent *edges, int count, model_states *states, bool anew)
{
    model_task *task = model_task_of(queue, id);
    model_attached ret = {0};
    int place = count_edges(task), child = HANDLE(queue, id);
    int64_t number = model_new_number();
    for (int i = 0; i < count; i++) {
        int parent = edges[i].parent, state = NONE;
        model_edge *edge = &task->edges[parent];
        bool lives = edge->policy && edge->how == '-' && !anew;
        if (lives && edge->policy == edges[i].policy) continue;
        if (edge->policy && !anew) COVER(DEPENDENCY_CHANGED);
        bool elsewhere = parent != OPEN && QUEUE_OF(parent) != queue;
        if (parent != OPEN && !elsewhere)
            state = attach_here(parent, child, &edges[i], number, states);
        else if (elsewhere)
            model_send(queue, 'R', "%s %s %s", model_handle(child), model_handle(parent), model_edge_word(&edges[i]));
        *edge = (model_edge){edges[i].policy, model_end_letter(state), edge->policy ? edge->place : place++,
                             elsewhere || ((state != NONE || parent == OPEN) && anew) ? -1
                             : state == NONE && parent != OPEN                        ? number
                                                                                      : 0,
                             elsewhere ? edges[i].mode : '\0'};
        if (edges[i].policy == 'x') task->for_death = true;
        ret.pending += (state == NONE) - lives;
        if (lives && state != NONE && !elsewhere && parent != OPEN) model_unregister(parent, child, INT64_MAX);
        note_bad(&ret, &edges[i], state);
    }
    return ret;
}

/* Whether a death that it waited for was met. */
static bool has_met_death(const model_task *task)
{
    for (int parent = 0; parent < OPEN; parent++)
        if (task->edges[parent].policy == 'x' && (task->edges[parent].how == 'd' || task->edges[parent].how == 'x'))
            return true;
    return false;
}

int model_restore(int queue, int id)
{
    model_task *task = model_task_of(queue, id);
    model_edge_sent edges[OPEN + 1];
    model_states states = {0};
    int count = 0;
    if (has_met_death(task)) return 0;
    for (int parent = 0; parent <= OPEN; parent++) {
        const model_edge *edge = &task->edges[parent];
        if (edge->policy && edge->how != 'c')
            edges[count++] = (model_edge_sent){parent, edge->policy, edge->how == '-' ? 'r' : 'd'};
    }
    if (count == 0) return 0;
    model_attached now = model_attach(queue, id, edges, count, &states, true);
    int pending = now.died ? 0 : now.pending;
    if (now.died) {
        COVER(DEPENDENCY_RESTORED_DEATH);
        model_unlink(queue, task);
    }
    if (pending == 0) task->for_death = false;
    if (pending > 0) COVER(DEPENDENCY_RESTORED);
    return pending;
}

bool model_link(int queue, int id, const model_edge_sent *edges, int count, model_states *states)
{
    model_task *task = model_task_of(queue, id);
    model_attached now = model_attach(queue, id, edges, count, states, false);
    bool for_death = task->for_death;
    /* A death may let others die: what was looked up before no longer holds. */
    if (now.died) *states = (model_states){0};
    states->known[id] = false;
    if (now.died && now.decides == 'x') {
        task->for_death = false;
        model_unlink(queue, task);
        COVER(DEPENDENCY_DEATH);
        return true;
    }
    if (now.died) {
        model_die_of(queue, id, now.died - 1, (int)now.how);
    } else if (now.pending > 0) {
        task->waits = true;
        task->pending = now.pending;
        COVER(DEPENDENCY_BLOCKED);
    } else if (for_death) {
        model_not_needed(queue, id);
    } else {
        return true;
    }
    return false;
}

void model_remove_edge(int queue, int id, int parent)
{
    model_task *task = model_task_of(queue, id);
    bool counts = task->edges[parent].how == '-';
    if (task->edges[parent].how == 'c' && parent != OPEN) model_unread(HANDLE(queue, id), parent);
    task->edges[parent] = (model_edge){0};
    if (!counts) return;
    task->pending--;
    if (parent == OPEN) return;
    if (QUEUE_OF(parent) == queue)
        model_unregister(parent, HANDLE(queue, id), INT64_MAX);
    else
        model_send(queue, 'U', "%s %s", model_handle(HANDLE(queue, id)), model_handle(parent));
}
