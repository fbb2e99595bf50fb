/* What a queue needs from time to time: tasks become due, sessions are taken back, what was kept long enough goes. */
#include <stdlib.h>
#include <string.h>

#include "model/model_dependencies.h"
#include "model/model_limit_state.h"
#include "support/queue.h"

enum { QUEUE = 1, MAX /* 0: ALL */, LIFE /* 0: not said */, LEAVES /* what the reply calls for to others */ };
enum { ALL = 200 };

void model_maintain_make(int arg[ARGS])
{
    arg[QUEUE] = model_choose_queue();
    arg[MAX] = CHOOSE(1, 1, 1, 2, 3, 0, 0);
    arg[LIFE] = CHOOSE(0, TTL, TTL, TTL);
    arg[LEAVES] = model_chance(4) == 0;
}

static int promote(int queue, int limit)
{
    int count = 0;
    while (count < limit) {
        model_task *first = NULL;
        for (int id = 0; id < SLOTS; id++) {
            model_task *task = model_task_of(queue, id);
            if (task->state != SCHEDULED || task->at_ms > model.now_ms) continue;
            if (!first || task->at_ms < first->at_ms ||
                (task->at_ms == first->at_ms && task->scheduled < first->scheduled))
                first = task;
        }
        if (!first) break;
        bool placed = first->placed;
        model_move(first, READY, 0);
        if (placed) first->order = 0; /* (among those that came meanwhile it may stand anywhere) */
        count++;
        COVER(MAINTAIN_PROMOTE);
    }
    if (count == limit) COVER(MAINTAIN_PROMOTE_STEP);
    return count;
}

/* A task is left that is due. */
static bool is_due(int queue)
{
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state == SCHEDULED && task->at_ms <= model.now_ms) return true;
    }
    return false;
}

static int trim(int queue, model_state state, int limit, bool *more)
{
    int count = model_trim_count(queue, state, limit), old = model_trim_age(queue, state, limit);
    if (count > 0) COVER(MAINTAIN_TRIM_COUNT);
    if (old > 0 && state == COMPLETED) COVER(MAINTAIN_TRIM_COMPLETED);
    if (old > 0 && state == CANCELLED) COVER(MAINTAIN_TRIM_CANCELLED);
    if (old > 0 && state == DEAD) COVER(MAINTAIN_TRIM_DEAD);
    if (state == COMPLETED) model_bulk_update_result_blocks(queue);
    *more = *more || count + old >= limit;
    return count + old;
}

static int trim_results(int queue, int limit, bool *more)
{
    bool left, bundled = model_split_result_block_some(queue, limit);
    int count = model_trim_results(queue, limit, !bundled, &left);
    model_bulk_update_result_blocks(queue);
    if (count > 0) COVER(BYTES_TEND);
    if (left) COVER(BYTES_STEP);
    *more = *more || left || bundled;
    return count;
}

/* The first whose time is over that somebody waited for; -1: none. */
static int waited_long(const model_queue *queue)
{
    int first = -1;
    for (int id = 0; id < SLOTS; id++) {
        int64_t until = queue->tasks[id].waited_ms;
        if (!until || until > model.now_ms) continue;
        int64_t min = first < 0 ? LATEST : queue->tasks[first].waited_ms;
        if (until < min || (until == min && model_is_before(id, first))) first = id;
    }
    return first;
}

static bool forget_waiters(model_queue *queue, int limit, bool any)
{
    int count = 0;
    for (int id; count < limit && (id = waited_long(queue)) >= 0; count++) {
        queue->tasks[id].waited_ms = 0;
        COVER(MAINTAIN_WAITERS);
    }
    for (int id = 0; id < SLOTS; id++) any = any || queue->tasks[id].waited_ms;
    queue->waiters = queue->waiters && any;
    return count == limit;
}

static void make_sooner(int64_t *next, int64_t at)
{
    if (*next < 0 || at < *next) *next = at;
}

/* As it is seen in Redis. */
static void make_gate_sooner(int64_t *next, const model_seen_queue *seen)
{
    if (seen->listening_ms) make_sooner(next, seen->listening_ms);
    if (seen->opens_ms > model.now_ms) make_sooner(next, seen->opens_ms);
    if (atoll(seen->hold) > model.now_ms) make_sooner(next, atoll(seen->hold));
    for (int group = 1; group <= KEYS; group++) {
        if (seen->limit_due_ms[group] && seen->limit_due_ms[group] < LATEST)
            make_sooner(next, seen->limit_due_ms[group]);
        if (seen->holds_ms[group]) make_sooner(next, seen->holds_ms[group]);
    }
}

/* When the oldest one of those has been kept long enough; -1: never. */
static int64_t next_to_age(int queue, model_state state)
{
    int64_t next = -1, age = model_keep_age(queue, state);
    for (int id = 0; id < SLOTS && age >= 0; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state == state) make_sooner(&next, task->at_ms + age);
    }
    return next;
}

/* When tend must be called again: the earliest of all that has a time. dead: a session is dead, which is reaped at
 * once. */
static int64_t next_due(int queue, bool dead)
{
    int64_t next = -1;
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        int64_t age = task->state >= COMPLETED && task->state != RETAINED ? model_keep_age(queue, task->state) : -1;
        if (task->state == SCHEDULED) make_sooner(&next, task->at_ms);
        if (id < IDS && model.queues[queue].parents[id].own_ms)
            make_sooner(&next, model.queues[queue].parents[id].own_ms);
        if (task->expires_ms) make_sooner(&next, task->expires_ms);
        if (age >= 0) make_sooner(&next, task->at_ms + age);
    }
    int64_t spared_ms = model.queues[queue].upkeep.ends_ms;
    for (int i = 0; i < model.session_count && !dead; i++) {
        int64_t expiry_ms = model.sessions[i].expiry_ms;
        if (model.sessions[i].queue != queue || model.sessions[i].life == ABSENT) continue;
        make_sooner(&next, spared_ms > model.now_ms && spared_ms > expiry_ms ? spared_ms : expiry_ms);
    }
    if (model_next_entry(queue) >= 0) make_sooner(&next, model_next_entry(queue));
    if (model_look()) make_gate_sooner(&next, &model_look()->queues[queue]);
    return next;
}

/* Which groups are forgotten, and which are looked at, is not predicted. When the clock was set back all are that wait
 * for their time. */
static bool may_have_more(const model_seen_queue *seen, int limit, bool back)
{
    bool more = seen->groups >= limit || seen->again || seen->counting;
    int stand = 0;
    for (int group = 1; group <= KEYS; group++) {
        more = more || seen->limit_dirty[group] || (back && seen->limit_due_ms[group]);
        stand += seen->clocks[group] > 0 && seen->clocks[group] <= (double)model.now_ms;
    }
    return more || stand >= limit;
}

static void end_listening(model_queue *q)
{
    if (!q->listening_ms || q->listening_ms > model.now_ms) return;
    q->listening_ms = 0;
    COVER(EVENTS_NOBODY);
}

/* Those of groups end the first one first, so many at once; true when there may be more. */
static bool end_holds(model_limits *l, int limit)
{
    int count = 0;
    if (l->hold_ms && l->hold_ms <= model.now_ms) {
        l->hold_ms = 0;
        COVER(MAINTAIN_HOLD);
    }
    for (; count < limit; count++) {
        int first = 0;
        for (int group = 1; group <= KEYS; group++) {
            int64_t ends = l->holds_ms[group];
            if (ends && ends <= model.now_ms && (!first || ends < l->holds_ms[first])) first = group;
        }
        if (!first) break;
        l->holds_ms[first] = 0;
    }
    return count == limit;
}

enum { NOW, MORE, NEXT, PROMOTED, DEAD_SESSION, TRIMMED, ENDS, NUMBERS };

/* What a tend says; the reply itself does not outlive the next look. */
typedef struct maintained {
    int64_t numbers[NUMBERS];
    const char *text;
    int messages, unread;
    int64_t spared_ms;
} maintained;

static bool maintain(int queue, int max, int life, maintained *ret)
{
    model_begin(&rv_script_maintain);
    model_key(queue);
    model_arg("%d", max);
    if (life) model_arg("%d", life);
    const rv_reply *reply = model_call();
    if (!reply) return false;
    for (size_t i = 0; i < NUMBERS; i++) ret->numbers[i] = rv_reply_int(rv_reply_at(reply, i), -2);
    ret->text = test_reply_text(reply);
    model_check_due(queue, rv_reply_at(reply, NUMBERS + 1));
    ret->spared_ms = rv_reply_int(rv_reply_at(reply, NUMBERS + 5), -1);
    ret->messages = (int)rv_reply_int(rv_reply_at(reply, NUMBERS + 2), -1);
    ret->unread = (int)rv_reply_int(rv_reply_at(reply, NUMBERS + 6), -1);
    if (!rv_reply_is_text(rv_reply_at(reply, NUMBERS), model.queues[queue].policy ? MODEL_POLICY : ""))
        model_differ("tend says %s of the policy", ret->text);
    return true;
}

static void compare(const maintained *actual, const int64_t expected[NUMBERS])
{
    static const char *const names[] = {"now", "more", "next", "promoted", "dead", "trimmed", "ends"};
    for (size_t i = 0; i < NUMBERS; i++) {
        bool matters = i != NEXT || !expected[MORE]; /* (with more to do, nobody waits for the next) */
        if (matters && actual->numbers[i] != expected[i])
            model_differ("tend says %s, but %s is %lld", actual->text, names[i], (long long)expected[i]);
    }
}

static void forget_size(int queue, bool was_large)
{
    if (!was_large || model_count(queue, NONE) < SLOTS) return;
    model.queues[queue].large = false;
    COVER(MAINTAIN_SMALL);
}

/* What whoever called tend does next, or leaves to others. */
static void follow_up(const int arg[ARGS], bool dead)
{
    model_queue *q = &model.queues[arg[QUEUE]];
    q->more = true;
    if (arg[LEAVES]) COVER(MAINTAIN_LEAVES);
    if (arg[LEAVES]) return;
    if (dead) model_reap(arg);
    if (q->fan_count > 0) model_fan_step((const int[ARGS]){arg[QUEUE], arg[MAX]});
}

void model_maintain(const int arg[ARGS])
{
    maintained actual;
    int queue = arg[QUEUE];
    model_queue *q = &model.queues[queue];
    bool was_large = q->large, more = false;
    int max = arg[MAX] ? arg[MAX] : ALL, limit = was_large && max > 8 ? 8 : max;
    bool spared, changed, back = model_maintain_upkeep(queue, arg[LIFE], &changed);
    bool dead = model_dead_session(queue, &q->upkeep, &spared) >= 0;
    const model_seen *before = model_look();
    bool unsure = before && may_have_more(&before->queues[queue], limit, back),
         limited = before && *before->queues[queue].limit_state;
    if (!maintain(queue, max, arg[LIFE], &actual)) return;
    int64_t expected[NUMBERS] = {[NOW] = model.now_ms, [DEAD_SESSION] = dead};
    /* The least of each kind that a call without a budget does. */
    int due = mood.budget ? 1 : limit, ended = mood.budget && limit > 25 ? 25 : limit;
    expected[PROMOTED] = promote(queue, due);
    if (due < limit && expected[PROMOTED] == due && is_due(queue)) COVER(MAINTAIN_BUDGET);
    more = expected[PROMOTED] == due;
    more = model_expire_some(queue, mood.budget && limit > 10 ? 10 : limit) || more;
    expected[TRIMMED] = trim(queue, COMPLETED, ended, &more);
    int64_t completed_ms = next_to_age(queue, COMPLETED);
    expected[TRIMMED] += trim(queue, CANCELLED, ended, &more);
    if (q->keep_bytes) expected[TRIMMED] += trim_results(queue, limit, &more);
    expected[TRIMMED] += trim(queue, DEAD, ended, &more);
    expected[TRIMMED] += model_drop_own(queue, limit, &more);
    if (q->waiters) more = forget_waiters(q, limit, model_is_linked_any(queue)) || more;
    forget_size(queue, was_large);
    if (limited) end_listening(q);
    if (limited && end_holds(&q->limits, limit)) more = true;
    model_maintain_upkeep_end(queue, changed || expected[PROMOTED] > 0);
    model_take_over_parked(queue, false);
    expected[MORE] = more || (unsure && actual.numbers[MORE] == 1);
    expected[NEXT] = next_due(queue, dead);
    expected[ENDS] = q->fan_count > 0;
    if (completed_ms >= 0) make_sooner(&expected[NEXT], completed_ms); /* (what went by its bytes was asked before) */
    q->more = expected[MORE];
    q->next_ms = expected[NEXT];
    if (actual.messages != q->message_count)
        model_differ("tend says that there are %d messages, not %d", actual.messages, q->message_count);
    if (actual.unread != (q->unread_count > 0)) model_differ("tend says %s of what was set aside", actual.text);
    if (spared) COVER(MAINTAIN_SPARE);
    if (actual.spared_ms != (spared ? q->upkeep.ends_ms : 0))
        model_differ("tend says %s of sessions that are spared", actual.text);
    compare(&actual, expected);
    if (dead || q->fan_count > 0) follow_up(arg, dead);
}
