/* Tasks that wait for others: edges, and what becomes of children. As src/lua/lib/dependency_*.lua and fan_out.lua. */
#include <stdio.h>
#include <string.h>

#include "model/model_dependencies.h"
#include "support/cmocka.h"

enum { AT_ONCE = RV_CHILDREN_AT_ONCE, LETS_GO = 3, TOLD_MAX = 256 };

static model_task *task_of(int handle)
{
    return model_task_of(QUEUE_OF(handle), ID_OF(handle));
}

static model_parent *parent_of(int handle)
{
    return &model.queues[QUEUE_OF(handle)].parents[ID_OF(handle)];
}

/* ---- messages and fans ----------------------------------------------------------------------------------------- */

void model_send(int queue, char letter, const char *format, ...)
{
    va_list args;
    model_queue *q = &model.queues[queue];
    if (q->message_count == MESSAGES) model.full = true;
    if (model.full) return;
    model_message *message = &q->messages[q->message_count++];
    *message = (model_message){.letter = letter};
    va_start(args, format);
    (void)vsnprintf(message->words, sizeof(message->words), format, args);
    va_end(args);
}

/* number: of the message that registered the edge, in parts (PLACES). */
static void send_end(int queue, int child, int parent, int state, int64_t number)
{
    model_send(queue, 'E', "%s %s %s %lld", model_handle(child), model_handle(parent), model_end_word(state),
               (long long)(number / PLACES));
}

static int count_of(const int64_t set[HANDLES])
{
    int count = 0;
    for (int i = 0; i < HANDLES; i++) count += set[i] != 0;
    return count;
}

/* The child that was registered first, + 1; 0: there is none. */
static int first_of(const int64_t set[HANDLES])
{
    int first = 0;
    for (int child = 0; child < HANDLES; child++)
        if (set[child] && (!first || set[child] < set[first - 1])) first = child + 1;
    return first;
}

static void fan_out(int queue, int id, int64_t set[HANDLES], int state)
{
    model_queue *q = &model.queues[queue];
    if (count_of(set) == 0) return;
    if (q->fan_count == FANS) model.full = true;
    if (model.full) return;
    model_fan *fan = &q->fans[q->fan_count++];
    fan->id = id;
    fan->state = state;
    memcpy(fan->children, set, sizeof(fan->children));
    memset(set, 0, sizeof(fan->children));
    fan->guards = state == COMPLETED;
    if (fan->guards) q->parents[id].guards++, q->parents[id].read = true;
    COVER(DEPENDENCY_FAN);
}

/* ---- a parent -------------------------------------------------------------------------------------------------- */

bool model_is_linked_any(int queue)
{
    for (int id = 0; id < IDS; id++)
        if (model.queues[queue].parents[id].linked) return true;
    return false;
}

int model_children(int queue, int id)
{
    if (id >= IDS || !model.queues[queue].parents[id].linked) return 0;
    const model_parent *parent = &model.queues[queue].parents[id];
    return count_of(parent->children) + count_of(parent->awaiting_retry);
}

static model_state state_of(int parent, model_states *states)
{
    int id = ID_OF(parent);
    if (states && states->known[id]) return states->of[id];
    model_state state = task_of(parent)->state == RETAINED ? COMPLETED : task_of(parent)->state;
    if (states) states->known[id] = true, states->of[id] = state;
    return state;
}

static int unknown_end(char mode)
{
    COVER(DEPENDENCY_UNKNOWN);
    if (mode == 'e') COVER(DEPENDENCY_EXPECTED);
    if (mode == 'e') return NONE;
    if (mode == 'd') return GONE_STATE;
    return mode ? COMPLETED : UNKNOWN_STATE;
}

int model_how_ended(int parent, const model_edge_sent *edge, model_states *states)
{
    model_state state = state_of(parent, states);
    if (state == NONE) return unknown_end(edge->mode);
    if (state == COMPLETED) return state;
    if ((state != DEAD && state != CANCELLED) || edge->policy == 'w') return NONE;
    return edge->policy == 'f' && (edge->mode == 'r' || edge->mode == 'd') ? NONE : (int)state;
}

int model_register(int parent, int child, const model_edge_sent *edge, int64_t number, model_states *states)
{
    int state = model_how_ended(parent, edge, states);
    if (state != NONE) return state;
    model_parent *p = parent_of(parent);
    int64_t *set = edge->policy == 'w' ? p->awaiting_retry : p->children;
    int64_t *other = edge->policy == 'w' ? p->children : p->awaiting_retry;
    bool by_message = QUEUE_OF(parent) != QUEUE_OF(child);
    p->linked = true;
    if (by_message && other[child] > number * PLACES) return NONE;
    if (!set[child]) other[child] = 0;
    if (!by_message || number * PLACES > set[child]) set[child] = number * PLACES;
    model.queues[QUEUE_OF(parent)].waiters = true;
    return NONE;
}

int model_missing_parent(int queue, const model_edge_sent *edges, int count, const bool comes[SLOTS])
{
    for (int i = 0; i < count; i++) {
        int parent = edges[i].parent;
        if (parent == OPEN || QUEUE_OF(parent) != queue || edges[i].mode) continue;
        if (task_of(parent)->state == NONE && !(comes && comes[ID_OF(parent)])) return ID_OF(parent);
    }
    return -1;
}

void model_unregister(int parent, int child, int64_t before)
{
    model_parent *p = parent_of(parent);
    if (before < INT64_MAX) before *= PLACES;
    if (p->children[child] < before) p->children[child] = 0;
    if (p->awaiting_retry[child] < before) p->awaiting_retry[child] = 0;
    if (count_of(p->children) + count_of(p->awaiting_retry) == 0) p->linked = false;
}

/* A child hears of a parent, or will; guards: the record is there. since: as in children:<id>. */
static void tell_one(int queue, int child, int parent, int state, int64_t since, bool guards)
{
    bool here = QUEUE_OF(child) == queue, reads = state == COMPLETED;
    if (here)
        reads = model_deliver(child, parent, state, since / PLACES);
    else
        send_end(queue, child, parent, state, since);
    if (reads && guards) model_add_reader(parent, child, here ? 0 : since / PLACES);
}

static void tell_at_once(int queue, int id, int64_t set[HANDLES])
{
    for (int child; (child = first_of(set)) > 0;) {
        int64_t since = set[child - 1];
        set[child - 1] = 0;
        COVER(DEPENDENCY_AT_ONCE);
        tell_one(queue, child - 1, HANDLE(queue, id), COMPLETED, since, true);
    }
}

static void tell_children(int queue, int id, int state)
{
    model_parent *p = &model.queues[queue].parents[id];
    bool exists = model_task_of(queue, id)->state != NONE;
    bool final = (state != DEAD && state != CANCELLED) || !exists;
    if (final || count_of(p->awaiting_retry) == 0) p->linked = false;
    int count = state == COMPLETED ? count_of(p->children) + count_of(p->awaiting_retry) : 0;
    model.told += count;
    if (state == COMPLETED && count <= AT_ONCE && model.told <= TOLD_MAX) {
        tell_at_once(queue, id, p->children);
        tell_at_once(queue, id, p->awaiting_retry);
        model_let_go(HANDLE(queue, id));
        return;
    }
    if (state == COMPLETED) COVER(DEPENDENCY_MANY);
    fan_out(queue, id, p->children, state);
    if (final) fan_out(queue, id, p->awaiting_retry, state == COMPLETED || state == CASCADE ? state : DELETED_STATE);
}

void model_tell_ended(int queue, int id, int state)
{
    if (id < IDS && model.queues[queue].parents[id].linked) tell_children(queue, id, state);
}

void model_forsake(int queue, int id)
{
    if (id >= IDS || !model.queues[queue].parents[id].linked) return;
    model_parent *p = &model.queues[queue].parents[id];
    p->linked = false;
    fan_out(queue, id, p->children, DELETED_STATE);
    fan_out(queue, id, p->awaiting_retry, DELETED_STATE);
    COVER(DEPENDENCY_FORSAKEN);
}

/* ---- a child --------------------------------------------------------------------------------------------------- */

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

void model_die_of(int queue, int id, int parent, int state)
{
    model_task *task = model_task_of(queue, id);
    model_leave_parents(queue, task);
    task->error = DIED_OF(parent, state);
    task->failed_ms = model.now_ms;
    model_note(task);
    model_end(queue, task, DEAD);
    if (task->state != NONE) (void)model_trim_count(queue, DEAD, 16);
    model.queues[queue].counters[2]++;
    model_tell_ended(queue, id, DEAD);
    if (state == UNKNOWN_STATE)
        COVER(DEPENDENCY_DIES_UNKNOWN);
    else
        COVER(DEPENDENCY_DIES);
}

static void cascade(int queue, int id)
{
    model_task *task = model_task_of(queue, id);
    model_leave_parents(queue, task);
    tell_children(queue, id, CASCADE);
    model_end(queue, task, CANCELLED);
    if (task->state != NONE) (void)model_trim_count(queue, CANCELLED, 16);
    model_tell_ended(queue, id, CANCELLED);
    COVER(DEPENDENCY_CASCADES);
}

static char letter_of(int state)
{
    return state == NONE ? '-' : state == COMPLETED ? 'c' : state == DEAD ? 'd' : 'x';
}

static bool end_edge(int child, int parent, int state, int64_t number)
{
    int queue = QUEUE_OF(child), id = ID_OF(child);
    model_task *task = task_of(child);
    model_edge *edge = &task->edges[parent];
    if (edge->policy == 'w' && (state == DEAD || state == CANCELLED)) return false;
    edge->how = letter_of(state);
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
    model_task *task = task_of(child);
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

/* ---- edges come and go ----------------------------------------------------------------------------------------- */

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
    if (state != COMPLETED || state_of(parent, states) != COMPLETED) return state;
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
        *edge = (model_edge){edges[i].policy, letter_of(state), edge->policy ? edge->place : place++,
                             elsewhere || ((state != NONE || parent == OPEN) && anew) ? -1
                             : state == NONE && parent != OPEN                        ? number
                                                                                      : 0};
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

/* ---- in steps -------------------------------------------------------------------------------------------------- */

/* Returns how many children it told. */
static int fan_one(int queue, int max)
{
    model_queue *q = &model.queues[queue];
    int before = count_of(q->fans[0].children), left = max;
    bool guards = q->fans[0].guards;
    for (int child; left > 0 && (child = first_of(q->fans[0].children)) > 0; left--) {
        int parent = HANDLE(queue, q->fans[0].id), state = q->fans[0].state;
        int64_t number = q->fans[0].children[child - 1];
        q->fans[0].children[child - 1] = 0;
        tell_one(queue, child - 1, parent, state, number, guards);
    }
    if (count_of(q->fans[0].children) == 0) {
        int id = q->fans[0].id;
        q->fan_count--;
        memmove(&q->fans[0], &q->fans[1], (size_t)q->fan_count * sizeof(q->fans[0]));
        if (guards) q->parents[id].guards--;
        if (guards) model_let_go(HANDLE(queue, id));
    } else {
        COVER(DEPENDENCY_FAN_STEP);
    }
    return before < max ? before : max;
}

bool model_fan_some(int queue, int max)
{
    model_queue *q = &model.queues[queue];
    int together = max < AT_ONCE ? max : AT_ONCE;
    int told = q->fan_count > 0 ? fan_one(queue, max) : together;
    while (q->fan_count > 0 && told < together && told + count_of(q->fans[0].children) <= together) {
        told += fan_one(queue, max);
        COVER(DEPENDENCY_FANS_TOGETHER);
    }
    return q->fan_count > 0;
}
