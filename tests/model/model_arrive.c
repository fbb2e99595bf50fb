/* What comes of tasks that come: which are taken, where they stand, who has their keys, and what they wait for. */
#include <string.h>

#include "model/model_enqueue.h"

/* ---- with parents ---------------------------------------------------------------------------------------------- */

/* Those of a call that wait for others, until it is time to link them: when all before them are there. */
static struct {
    const model_incoming *list[MODEL_CALL_MAX];
    int count;
} children;

/* Those that it names, or those of the task in whose place it stands. */
static int parents_of(int queue, const model_incoming *one, model_edge_sent ret[OPEN + 1])
{
    if (!one->inherits) return model_edges_of(one->edges, HANDLE(queue, one->id), ret);
    memcpy(ret, one->inherited, sizeof(one->inherited));
    return one->inherited_count;
}

static void link_children(int queue)
{
    model_states states = {0};
    const model_incoming *free[MODEL_CALL_MAX];
    int count = 0;
    for (int i = 0; i < children.count; i++) {
        const model_incoming *one = children.list[i];
        model_edge_sent edges[OPEN + 1];
        int given = parents_of(queue, one, edges);
        if (model_link(queue, one->id, edges, given, &states))
            free[count++] = one;
        else if (model_task_of(queue, one->id)->state == BLOCKED && one->due_ms > model.now_ms)
            model_task_of(queue, one->id)->due_ms = one->due_ms;
    }
    children.count = 0;
    for (int i = 0; i < count; i++) {
        bool later = free[i]->due_ms > model.now_ms;
        model_move(model_task_of(queue, free[i]->id), later ? SCHEDULED : READY, later ? free[i]->due_ms : 0);
        COVER(DEPENDENCY_FREE);
    }
}

static bool has_parents(int queue, const model_incoming *one)
{
    model_edge_sent edges[OPEN + 1];
    return parents_of(queue, one, edges) > 0;
}

/* ---- what comes of it ------------------------------------------------------------------------------------------ */

/* Marked where its record goes with its end: whoever settles it then looks for its tags. */
static void tag(int queue, model_task *task)
{
    model_queue *q = &model.queues[queue];
    q->given_ms = model.now_ms;
    if (q->kept[0] && (q->keep_age[0] == 0 || q->keep_count[0] == 0)) task->flagged = true;
    COVER(TAGS_INDEXED);
}

static void arrive(int queue, const model_incoming *one)
{
    model_task *task = model_task_of(queue, one->id);
    *task = one->task;
    task->arrived = ++model.last_order;
    task->deadline_ms = one->expires_ms ? model.now_ms + one->expires_ms : one->deadline_ms;
    task->expires_ms = task->deadline_ms;
    if (task->deadline_ms) COVER(ENQUEUE_DEADLINE);
    if (task->tagged) tag(queue, task);
    if (one->task.group) model.grouped = true;
    if (one->task.large) model.queues[queue].large = true;
    if (one->task.large) COVER(ENQUEUE_LARGE);
    if (has_parents(queue, one)) {
        task->flagged = true;
        model_move(task, BLOCKED, model.now_ms);
        children.list[children.count++] = one;
        return;
    }
    if (one->state != NONE) {
        model_move(task, one->state, one->at_ms);
        task->order = one->order;
        if (one->state == SCHEDULED) task->scheduled = one->scheduled;
        return;
    }
    if (one->due_ms > model.now_ms) {
        model_move(task, SCHEDULED, one->due_ms);
        if (one->at)
            COVER(ENQUEUE_AT);
        else
            COVER(ENQUEUE_IN);
        return;
    }
    if (one->due_ms) COVER(ENQUEUE_PAST);
    model_move(task, READY, 0);
    COVER(ENQUEUE_READY);
}

static bool waits_for(int queue, const model_incoming *one, int holder)
{
    model_edge_sent edges[EDGES_SENT];
    int given = model_edges_of(one->edges, HANDLE(queue, one->id), edges);
    for (int i = 0; i < given; i++)
        if (edges[i].parent == HANDLE(queue, holder)) return true;
    return false;
}

/* Another that waits, and has the key, goes. */
static void displace(int queue, model_incoming *one, int holder)
{
    model_task old = *model_task_of(queue, holder);
    bool waits = old.state == SCHEDULED;
    if (one->conflict == MODEL_REPLACE && !one->task.priority) one->task.priority = old.priority;
    one->inherits = old.state == BLOCKED && !has_parents(queue, one);
    if (one->inherits) one->inherited_count = model_heritage(queue, holder, one->id, one->inherited);
    if (one->inherits && one->conflict == MODEL_REPLACE && !one->due_ms) one->due_ms = old.due_ms;
    model_hand_over(queue, holder, one->id);
    model_remove(queue, model_task_of(queue, holder));
    if (one->conflict == MODEL_DEBOUNCE) COVER(UNIQUE_DEBOUNCE);
    if (one->conflict == MODEL_REPLACE) COVER(UNIQUE_REPLACE);
    if (one->conflict == MODEL_DEBOUNCE || one->due_ms || old.state == BLOCKED ||
        (!waits && old.priority != one->task.priority))
        return;
    one->state = waits ? SCHEDULED : READY;
    one->at_ms = waits ? old.at_ms : 0;
    one->scheduled = old.scheduled;
    one->order = !waits && old.group == one->task.group ? old.order : 0;
    COVER(UNIQUE_PLACE);
}

/* Ids that were there at first, and those that came in this call: they are not free again but where a key was wanted.
 */
typedef struct taken {
    bool known[SLOTS], came[SLOTS];
} taken;

/* Who has the key. (One that came in this very call may be gone as soon as it is linked, and its key be free.) */
static int holder_of(int queue, const model_incoming *one, taken *ids)
{
    int holder = one->task.unique ? model_holder(queue, one->task.unique) : -1;
    if (holder < 0 || !one->conflict) return holder;
    link_children(queue);
    if (model_task_of(queue, holder)->state != NONE) return holder;
    ids->known[holder] = ids->came[holder] = false;
    return model_holder(queue, one->task.unique);
}

/* True when the task has its key now, or names none. */
static bool claim(int queue, model_incoming *one, bool again, taken *ids)
{
    int key = one->task.unique, holder = holder_of(queue, one, ids);
    if (holder >= 0) {
        const model_task *task = model_task_of(queue, holder);
        bool waits = model_waits(task->state);
        bool is_child = waits && task->unique == key && waits_for(queue, one, holder);
        if (one->conflict && is_child) COVER(REPLACEMENT_IS_CHILD);
        if (!one->conflict || !waits || task->unique != key || is_child) {
            one->expected = again && holder == one->id;
            if (!one->expected) one->holder = holder;
            if (one->expected)
                COVER(UNIQUE_AGAIN);
            else
                COVER(UNIQUE_REFUSED);
            return false;
        }
        displace(queue, one, holder);
        ids->known[holder] = ids->came[holder] = false;
    }
    one->expected = 1;
    return true;
}

/* Envelopes are compared, but for what they say of their time; other things that are done to a task change it. */
static bool is_ours(const model_task *task, const model_incoming *one)
{
    bool keeps = one->conflict == MODEL_REPLACE && one->task.unique && !one->task.priority;
    return task->serial == one->task.serial && (keeps || task->priority == one->task.priority);
}

/* A parent that must be known is not, nor is it among those of this call that have come. */
static int missing_parent(int queue, const model_incoming *one, const taken *ids)
{
    model_edge_sent edges[EDGES_SENT];
    int given = model_edges_of(one->edges, HANDLE(queue, one->id), edges);
    return model_missing_parent(queue, edges, given, ids->came);
}

/* Of a clock that was moved since the first copy was sent, those who say what it said then know: what was moved back
 * keeps nothing that counts, and time that it passed over counts. */
static bool all_kept(int queue, const model_incoming *task)
{
    int64_t moved_ms = task->says_clock ? task->moved_ms : 0;
    if (moved_ms < 0) COVER(AGAIN_MOVED_BACK);
    if (moved_ms > 0) COVER(AGAIN_MOVED_ON);
    return moved_ms >= 0 && model_all_kept(queue, task->elapsed_ms + moved_ms);
}

/* The tasks of a call, and which of them have come. */
typedef struct call {
    int queue, count;
    model_incoming *tasks;
    bool come[MODEL_CALL_MAX];
} call;

/* Whether the i-th task names the j-th: of several with the same id the last one. */
static bool names(const call *c, int i, int j)
{
    for (int later = j + 1; later < c->count; later++)
        if (c->tasks[later].id == c->tasks[j].id) return false;
    return i != j && waits_for(c->queue, &c->tasks[i], c->tasks[j].id);
}

static bool parents_have_come(const call *c, int i)
{
    for (int j = 0; j < c->count; j++)
        if (!c->come[j] && names(c, i, j)) return false;
    return true;
}

/* A task comes, and then those before it in the call of which it was the last parent. Returns how many have an
 * order. */
static int bring(call *c, int order[MODEL_CALL_MAX], int done, int i)
{
    int end = done;
    order[end++] = i;
    for (; done < end; done++) {
        c->come[order[done]] = true;
        for (int child = 0; child < i; child++) {
            if (c->come[child] || !names(c, child, order[done]) || !parents_have_come(c, child)) continue;
            order[end++] = child;
            COVER(DEPENDENCY_BEHIND);
        }
    }
    return end;
}

/* In which order the tasks of a call come: each behind its parents of the call. (Those that wait in a circle would come
 * at the end. The model makes none; ct_enqueue_together does.) */
static void order_call(int queue, model_incoming *tasks, int count, int order[MODEL_CALL_MAX])
{
    call c = {.queue = queue, .count = count, .tasks = tasks};
    int done = 0;
    for (int i = 0; i < count; i++)
        if (parents_have_come(&c, i)) done = bring(&c, order, done, i);
    for (int i = 0; i < count; i++)
        if (!c.come[i]) order[done++] = i;
}

/* Its id is taken. */
static void refuse_taken(int queue, model_incoming *one, bool again, const taken *ids)
{
    one->expected = again && ids->known[one->id] && is_ours(model_task_of(queue, one->id), one);
    if (one->expected)
        COVER(ENQUEUE_AGAIN);
    else if (ids->known[one->id])
        COVER(ENQUEUE_TAKEN);
    else
        COVER(ENQUEUE_TAKEN_WITHIN);
}

/* It may have run, and its record be gone. */
static void doubt(int queue, model_incoming *one)
{
    bool has_key = one->task.unique && model_holder(queue, one->task.unique) == one->id;
    one->expected = has_key ? 1 : -1;
    if (has_key)
        COVER(AGAIN_HAS_KEY);
    else
        COVER(AGAIN_UNPROVEN);
}

static bool has_id(const model_incoming *tasks, int count, int id)
{
    for (int i = 0; i < count; i++)
        if (tasks[i].id == id) return true;
    return false;
}

void model_arrive(int queue, model_incoming *tasks, int count, model_way way)
{
    bool again = way == COME_AGAIN || way == COME_CARRIED;
    bool proven = way != COME_AGAIN || !tasks->elapsed_ms || all_kept(queue, tasks);
    taken ids = {0};
    int order[MODEL_CALL_MAX];
    order_call(queue, tasks, count, order);
    for (int id = 0; id < SLOTS; id++) ids.known[id] = model_task_of(queue, id)->state != NONE;
    for (int i = 0; i < count; i++) {
        model_incoming *one = &tasks[order[i]];
        one->holder = one->missing = -1;
        one->state = NONE;
        one->inherits = one->too_long = false;
        if (ids.known[one->id] || ids.came[one->id]) {
            refuse_taken(queue, one, again, &ids);
        } else if (!proven) {
            doubt(queue, one);
        } else if (way == COME_AGAIN && tasks->elapsed_ms && model_replacement(queue, one->id) >= 0) {
            if (has_id(tasks, count, model_replacement(queue, one->id)))
                one->expected = 1;
            else
                doubt(queue, one);
            COVER(AGAIN_REPLACED);
        } else if (way != COME_CARRIED && one->task.large && model.queues[queue].payloads_limited) {
            one->too_long = true;
            COVER(ENQUEUE_TOO_LONG);
        } else if (way != COME_CARRIED && (one->missing = missing_parent(queue, one, &ids)) >= 0) {
            COVER(DEPENDENCY_MISSING);
        } else if (claim(queue, one, again, &ids)) {
            ids.came[one->id] = true;
            arrive(queue, one);
            if (one->task.unique) model_lock(queue, one->id);
        }
    }
    link_children(queue);
}

void model_put_one(int queue, const model_incoming *one)
{
    if (model_task_of(queue, one->id)->state == NONE) arrive(queue, one);
}
