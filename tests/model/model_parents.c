/* Parents of tasks that wait for them: whom they tell of their end, at once, by messages and in steps. As
 * src/lua/lib/dependency_edges.lua and fan_out.lua. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/model_dependencies.h"

enum { AT_ONCE = RV_CHILDREN_AT_ONCE, TOLD_MAX = 256 };

model_task *model_task_at(int handle)
{
    return model_task_of(QUEUE_OF(handle), ID_OF(handle));
}

static model_parent *parent_of(int handle)
{
    return &model.queues[QUEUE_OF(handle)].parents[ID_OF(handle)];
}

/* ---- messages and fans ------------------------------------------------------------------------------------------- */

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

/* ---- a parent ---------------------------------------------------------------------------------------------------- */

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

model_state model_state_of(int parent, model_states *states)
{
    int id = ID_OF(parent);
    if (states && states->known[id]) return states->of[id];
    model_state state = model_task_at(parent)->state == RETAINED ? COMPLETED : model_task_at(parent)->state;
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
    model_state state = model_state_of(parent, states);
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
        if (model_task_at(parent)->state == NONE && !(comes && comes[ID_OF(parent)])) return ID_OF(parent);
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

void model_tell_children(int queue, int id, int state)
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
    if (id < IDS && model.queues[queue].parents[id].linked) model_tell_children(queue, id, state);
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

/* ---- in steps ---------------------------------------------------------------------------------------------------- */

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
