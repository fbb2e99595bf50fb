/*
 * The end of a sequence: whoever works dies, time passes, one thread does all that there is to do. Then all tasks have
 * ended, and nothing is left of limits and groups but the settings.
 */
#include "model/model_dependencies.h"
#include "model/model_limit_state.h"

enum { ROUNDS = 400, TENDS = 50, MUCH = 20 };

static bool step(int kind, const int arg[ARGS])
{
    if (model.words[0] || model.full) return false;
    model_kinds[kind].run(arg);
    if (!model.full) model_check();
    return !model.words[0] && !model.full;
}

#define STEP(kind, ...) step(kind, (const int[ARGS]){__VA_ARGS__})

/* What is held at none at all would wait for ever. */
static void open_limits(int queue)
{
    const model_limits *l = &model.queues[queue].limits;
    if (l->concurrency == 0) STEP(LIMIT, queue, 0, 1);
    if (l->group_concurrency == 0) STEP(LIMIT, queue, 2, 1);
    for (int group = 1; group <= KEYS; group++)
        if (l->own_concurrency[group] == 0) STEP(LIMIT, queue, 4, 1, group);
}

static void maintain(int queue)
{
    for (int i = 0; i < TENDS && STEP(MAINTAIN, 0, queue); i++)
        if (!model.queues[queue].more) return;
    if (!model.full) model_differ("queue %d always has more to tend", queue);
}

/* A task that has not ended; -1: there is none. */
static int unended(int queue)
{
    for (int id = 0; id < SLOTS; id++) {
        model_state state = model_task_of(queue, id)->state;
        if (state != NONE && state < COMPLETED) return id;
    }
    return -1;
}

static bool has_messages(void)
{
    for (int queue = 0; queue < QUEUES; queue++)
        if (model.queues[queue].message_count || model.queues[queue].unread_count || model.queues[queue].fan_count)
            return true;
    return false;
}

static void let_time_pass(void)
{
    int64_t next = -1;
    for (int queue = 0; queue < QUEUES; queue++) {
        int64_t at = model.queues[queue].next_ms;
        if (at >= 0 && (next < 0 || at < next)) next = at;
    }
    for (int queue = 0; queue < QUEUES; queue++) {
        int id = unended(queue);
        if (next < 0 && id >= 0 && model_count(queue, READY) == 0 && !has_messages())
            model_differ("nothing more happens, and %s is %s", model_id(id),
                         model_state_names[model_task_of(queue, id)->state]);
    }
    STEP(CLOCK, next > model.now_ms ? (int)(next - model.now_ms) : 1);
}

static void begin(void)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        STEP(PAUSE, queue, 0);
        for (int entry = 0; entry < ENTRIES; entry++)
            if (model.queues[queue].entries[entry].kind) STEP(CRON, queue, 3, entry);
        STEP(KEEP, queue, 0, 0, 0);
        STEP(KEEP, queue, 1, 0, 0);
        STEP(KEEP, queue, 4, 0);
        open_limits(queue);
    }
    for (int hand = 0; hand < HANDS; hand++) STEP(DIE, hand);
    STEP(CLOCK, TTL + 1);
}

/* What is held open would wait for ever, as would what waits for one that has yet to come, or to be retried. */
static bool never_ends(int parent)
{
    if (parent == OPEN) return true;
    model_state state = model_task_of(QUEUE_OF(parent), ID_OF(parent))->state;
    return state == NONE || state == DEAD || state == CANCELLED;
}

static void close_parents(int queue)
{
    for (int id = 0; id < IDS; id++) {
        const model_task *task = model_task_of(queue, id);
        for (int parent = 0; parent <= OPEN && task->state == BLOCKED; parent++) {
            if (task->edges[parent].how != '-') continue;
            /* By what it inherited it may wait for itself. */
            if (!model_may_be_parent(parent, HANDLE(queue, id)))
                STEP(CANCEL, queue, id, 0, 1);
            else if (never_ends(parent))
                STEP(DEPEND, queue, id, EDGE(0, parent), 0, 1);
        }
    }
}

static bool carry(int queue)
{
    const model_queue *q = &model.queues[queue];
    return q->message_count + q->unread_count > 0 &&
           STEP(CARRY, queue, MUCH, MUCH, q->unread_count > 0 ? MODEL_CARRY_BACK : 0);
}

static void leave(int queue)
{
    if (model.hands[0].begun[queue]) STEP(END_SESSION, 0, queue);
}

/* True when something was done. */
static bool work(void)
{
    bool any = false;
    for (int queue = 0; queue < QUEUES; queue++) maintain(queue);
    for (int queue = 0; queue < QUEUES; queue++) any = carry(queue) || any;
    for (int queue = 0; queue < QUEUES; queue++) close_parents(queue);
    STEP(TURN, 0, 0, 2, MUCH);
    any = any || model.hands[0].belief_count > 0;
    while (model.hands[0].belief_count > 0 && STEP(TURN, 0, 0, 0, 0, MUCH)) {}
    return any;
}

static void check_end(int queue, const model_seen_queue *seen)
{
    for (int group = 1; group <= KEYS; group++)
        if (seen->limit_due_ms[group] || seen->limit_dirty[group] || seen->taken[group] || seen->clocks[group] > 0 ||
            seen->holds_ms[group])
            model_differ("something is left of group %d in queue %d", group, queue);
    if (seen->fan_set_count || seen->message_count || seen->unread_count || model_is_linked_any(queue) ||
        model_is_read_any(queue))
        model_differ("something is left of those that waited for others in queue %d", queue);
    if (seen->groups || seen->grouped) model_differ("groups are left in the order of queue %d", queue);
}

void model_wind_up(void)
{
    if (model.full || model.words[0]) return;
    begin();
    for (int i = 0; i < ROUNDS && (unended(0) >= 0 || unended(1) >= 0 || has_messages()); i++) {
        if (model.words[0] || model.full) return;
        if (work()) continue;
        for (int queue = 0; queue < QUEUES; queue++) leave(queue);
        for (int queue = 0; queue < QUEUES; queue++) maintain(queue);
        if (!model.words[0]) let_time_pass();
    }
    for (int queue = 0; queue < QUEUES; queue++)
        if (unended(queue) >= 0) model_differ("%s does not end", model_id(unended(queue)));
    for (int queue = 0; queue < QUEUES; queue++) leave(queue);
    STEP(CLOCK, model.went_back ? DAY : 20000);
    for (int queue = 0; queue < QUEUES; queue++) maintain(queue);
    for (int queue = 0; queue < QUEUES; queue++) STEP(CHECK, queue);
    for (int queue = 0; queue < QUEUES && !model.words[0] && !model.full; queue++)
        check_end(queue, &model_look()->queues[queue]);
}
