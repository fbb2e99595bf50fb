/* What a turn leases: which tasks it may give, and what it must say of them. */
#include <string.h>

#include "model/model_limit_state.h"
#include "model/model_turn.h"
#include "support/queue.h"

/* Groups may be at their limits there. */
static bool has_limited_groups(const turn *t, int queue)
{
    return strchr(t->limit_state[queue], 'g') != NULL;
}

/* The lowest priority that is ready; no task has INT32_MAX. */
static int lowest(int queue)
{
    int found = INT32_MAX;
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state == READY && task->priority < found) found = task->priority;
    }
    return found;
}

static bool a_crashed_one_is_next(int queue)
{
    int priority = lowest(queue);
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        if (task->state == READY && task->priority == priority && task->crashes > 0) return true;
    }
    return false;
}

/* What is told of marked tasks comes in the order of these. */
static void check_extra(turn *t, const rv_reply *extras, const model_task *task, const char *id)
{
    if (!task->flagged) return;
    const rv_reply *extra = rv_reply_at(extras, t->told++);
    if (!rv_reply_is_text(rv_reply_at(extra, 0), id) || rv_reply_int(rv_reply_at(extra, 1), -1) != task->failures ||
        rv_reply_int(rv_reply_at(extra, 2), -1) != task->crashes ||
        (rv_reply_at(extra, 3) != NULL) != (task->checkpoint > 0 || task->alone))
        model_differ("turn tells %s; of %s: %d failures, %d crashes", test_reply_text(extras), id, task->failures,
                     task->crashes);
    COVER(TURN_LEASE_MARKED);
}

void model_check_envelope(const model_task *task, const char *id, const char *envelope)
{
    const char *expected = model_envelope(task);
    if (task->of) model_check_payload(task, id, envelope);
    if (strncmp(expected, envelope, task->of ? strlen(expected) : CUT) != 0)
        model_differ("%s has envelope %.200s, not %s", id, envelope, expected);
}

/* Those of a group (and those without one) and of a priority start in their order. */
static void check_before(const model_task *task, const model_task *other, int id, int other_id)
{
    if (!task->group && !other->group && other->priority < task->priority)
        model_differ("turn leases %s before %s of lower priority", model_id(id), model_id(other_id));
    if (task->order == 0 || other->order == 0 || other->group != task->group || other->priority != task->priority)
        return;
    if (other->order < task->order) model_differ("turn leases %s before %s", model_id(id), model_id(other_id));
}

static void check_order(int queue, int id)
{
    for (int other = 0; other < SLOTS; other++) {
        const model_task *task = model_task_of(queue, other);
        if (task->state == READY || task->state == PARKED) check_before(model_task_of(queue, id), task, id, other);
    }
}

int model_taker_of(const turn *t, int place)
{
    return t->other >= 0 && place % 2 == 1 ? t->other : t->thread;
}

/* Its queue, its group, its type and its limit keys let it start, and it takes its units. */
static void check_limits(turn *t, int queue, const model_task *task, bool groups, bool kept)
{
    int *started = t->started[queue], *units = t->units[queue], group = task->group;
    int cost = task->cost ? task->cost : 1;
    if (*t->limit_state[queue] && !model_may_queue_start(queue, units[0]))
        model_differ("turn leases a task, and the rate of queue %d is used up", queue);
    if (group) started[group]++;
    if (groups && group && !model_may_group_start(queue, group, started[group], units[group], kept))
        model_differ("turn leases a task, and group %d is at its limit", group);
    for (int key = GROUPS + 1; key <= KEYS; key++) {
        if (!model_has_key(task, key)) continue;
        if (!model_may_group_start(queue, key, ++started[key], units[key], false))
            model_differ("turn leases a task, and type or limit key %d is at its limit", key);
        units[key] += cost;
    }
    units[0] += cost;
    if (group) units[group] += cost;
    if (model_has_rate(queue, task) && cost - 1 > t->debt[queue]) t->debt[queue] = cost - 1;
}

/* One task given; it must be ready and, unless it was asked for by its id, of the lowest priority. */
void model_take(turn *t, int queue, const rv_reply *id_reply, const rv_reply *envelope, const rv_reply *extras)
{
    int id = id_reply ? model_id_of(id_reply->text) : -1;
    model_task *task = id < 0 ? NULL : model_task_of(queue, id);
    bool groups = has_limited_groups(t, queue);
    if (!task || !envelope || (task->state != READY && !(groups && task->state == PARKED))) {
        model_differ("turn leases %s, which is not ready", id_reply ? id_reply->text : "nothing");
        return;
    }
    if (!groups && !t->by_id && task->priority != lowest(queue))
        model_differ("turn leases %s before others of lower priority", id_reply->text);
    model_check_envelope(task, id_reply->text, envelope->text);
    check_extra(t, extras, task, id_reply->text);
    if (!groups && !t->by_id) check_order(queue, id);
    if (task->unique && task->held == TO_START && model_holder(queue, task->unique) == id) {
        model.queues[queue].locks[task->unique].holder = 0;
        COVER(UNIQUE_STARTED);
    }
    bool kept = task->keeps;
    model_move(task, RUNNING, model.now_ms);
    if (kept) task->order = 0; /* (it starts whatever is before it) */
    if (kept) COVER(STRICT_STARTS);
    task->old_progress = task->progress > 0;
    task->session = model.hands[t->hand].session[queue];
    task->thread = model_taker_of(t, t->leased);
    if (task->thread == t->other) COVER(TURN_SEVERAL);
    if (task->thread == t->other && *t->limit_state[queue]) COVER(TURN_SEVERAL_LIMITS);
    if (t->other >= 0 && t->leased > 0 && t->given[t->leased - 1].queue != queue) COVER(TURN_SEVERAL_QUEUES);
    check_limits(t, queue, task, groups, kept);
    t->given[t->leased].queue = queue;
    t->given[t->leased++].id = id;
    COVER(TURN_LEASE);
}

/* The session holds a crashed task, and not this one. */
bool model_has_another_suspect(const turn *t, int queue, int id)
{
    int session = model.hands[t->hand].session[queue], suspect = model.sessions[session].suspect - 1;
    if (suspect < 0 || suspect == id || model.sessions[session].beside) return false;
    const model_task *task = model_task_of(queue, suspect);
    return task->state == RUNNING && task->session == session;
}

/* True when a crashed task was leased: then it must be alone. */
static bool check_alone(const turn *t, int queue, const rv_reply *leased, bool company)
{
    model_session *session = &model.sessions[model.hands[t->hand].session[queue]];
    size_t count = leased ? (leased->count - 1) / 2 : 0;
    for (size_t i = 0; i < count; i++) {
        int id = model_id_of(leased->items[1 + 2 * i]->text);
        if (id < 0 || model_task_of(queue, id)->crashes == 0) continue;
        if (count > 1 || company) model_differ("turn leases %s, which has crashed, with others", model_id(id));
        bool suspect = model_task_of(queue, id)->crashes > 1;
        if (suspect && model_has_another_suspect(t, queue, id))
            model_differ("turn leases a second suspect, %s", model_id(id));
        if (suspect) session->suspect = id + 1;
        if (suspect) session->alone = session->beside = false;
        COVER(TURN_LEASE_ALONE);
        return true;
    }
    return false;
}

/* Fewer than there could be only where a crashed task is, or comes next. With nothing before it, it was put off. */
static void check_count(turn *t, int queue, int count, int possible, bool alone, bool company)
{
    if (count > possible) model_differ("turn leases %d tasks, and %d were wanted and ready", count, possible);
    if (count >= possible || alone || !model_may_queue_start(queue, t->units[queue][0])) return;
    if (!a_crashed_one_is_next(queue)) model_differ("turn leases %d tasks of %d", count, possible);
    t->put_off[queue] = count == 0 && !company;
    if (count > 0) COVER(TURN_LEASE_CUT);
    if (count == 0 && company) COVER(TURN_LEASE_COMPANY);
}

/* How many may be leased where groups have limits: all that are ready but for those of groups at their limits, and
 * parked ones may be called in this very turn. */
static void bound(int queue, int room, int *ret_min, int *ret_max)
{
    int ready[GROUPS + 1] = {0}, parked[GROUPS + 1] = {0}, kept[GROUPS + 1] = {0};
    bool crashed = false, costs = false;
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        costs = costs || (task->cost && task->state == READY && model_has_rate(queue, task));
        ready[task->group] += task->state == READY;
        parked[task->group] += task->state == PARKED;
        kept[task->group] += task->state == READY && task->keeps;
        crashed = crashed || (task->crashes > 0 && (task->state == READY || task->state == PARKED));
    }
    *ret_min = ready[0];
    *ret_max = ready[0] + parked[0];
    for (int group = 1; group <= GROUPS; group++) {
        int free = model_group_room(queue, group), all = ready[group] + parked[group];
        if (free < all) COVER(GATE_FULL);
        if (model_is_strict(queue, group) && model_keepers(queue, group, true) > 0) ready[group] = kept[group];
        if (model.queues[queue].limits.counting) free = SLOTS;
        *ret_min += ready[group] < free ? ready[group] : free;
        *ret_max += all < free ? all : free;
    }
    if (model_limits_types(queue) || model_limits_keys(queue) || parked[0] > 0) *ret_min = 0;
    if (*ret_min > 1 && costs) *ret_min = 1;
    if (*ret_min > room) *ret_min = room;
    if (*ret_max > room) *ret_max = room;
    if (crashed || model.queues[queue].limits.counting) *ret_min = 0;
}

static bool is_said_gone(const turn *t, int queue, const rv_reply *gone)
{
    for (size_t i = 0; i < gone->count; i++)
        if (t->keys[rv_reply_int(gone->items[i], 1) - 1] == queue) return true;
    return false;
}

/* True when the session stands in the queue. */
bool model_is_in_session(const turn *t, int queue)
{
    model_session *session = &model.sessions[model.hands[t->hand].session[queue]];
    if (session->life == ALIVE) return true;
    if (session->life == DYING) COVER(TURN_GONE_DYING);
    if (session->life == ABSENT) COVER(TURN_GONE);
    return false;
}

/* Whether anything was ready cannot be told: tasks that were settled may have called parked ones. */
static int lease_nothing(turn *t, int queue, const rv_reply *reply)
{
    if (!is_said_gone(t, queue, rv_reply_at(reply, 2))) return 0;
    t->gone[queue] = true;
    if (model_is_in_session(t, queue)) model_differ("turn says that a session is gone");
    return 0;
}

/* Nothing is to be leased, for the queue itself. */
static bool is_closed(const turn *t, int queue, int room, int ready)
{
    if (model.queues[queue].paused)
        COVER(TURN_PAUSED);
    else if (room <= 0)
        COVER(GATE_SHUT);
    else if (ready == 0 && (!has_limited_groups(t, queue) || model_count(queue, PARKED) == 0))
        COVER(TURN_EMPTY);
    else
        return false;
    return true;
}

/* leased: {index, id, envelope, ...}, or NULL. Returns how many were leased; *ret_alone: and nothing more may be. */
static int lease_from(turn *t, int queue, int want, const rv_reply *leased, const rv_reply *reply, bool *ret_alone)
{
    int ready = model_count(queue, READY), count = leased ? (int)(leased->count - 1) / 2 : 0, min, max;
    int room = *t->limit_state[queue] ? model_queue_room(queue, want, t->other >= 0) : want;
    bool company = t->leased > 0, groups = has_limited_groups(t, queue);
    t->looked[queue] = true;
    if (is_closed(t, queue, room, ready)) {
        if (count > 0) model_differ("turn leases from a queue that is paused, empty or shut");
        return 0;
    }
    if (count == 0 && ready == 0) return lease_nothing(t, queue, reply);
    if (!model_is_in_session(t, queue)) {
        t->gone[queue] = true;
        if (count > 0) model_differ("turn leases to a session that is gone");
        return 0;
    }
    if (queue != t->keys[0] && t->gone[t->keys[0]]) {
        COVER(TURN_LOOKS);
        if (count > 0) model_differ("turn leases behind a session that is gone");
        return 0;
    }
    *ret_alone = check_alone(t, queue, leased, company);
    bound(queue, room, &min, &max);
    for (int i = 0; i < count; i++)
        model_take(t, queue, rv_reply_at(leased, (size_t)(1 + 2 * i)), rv_reply_at(leased, (size_t)(2 + 2 * i)),
                   rv_reply_at(reply, 3));
    if (!groups) check_count(t, queue, count, room < ready ? room : ready, *ret_alone, company);
    if (groups && !*ret_alone && (count < min || count > max))
        model_differ("turn leases %d tasks, not %d to %d", count, min, max);
    model_count_started(queue, t->units[queue], t->debt[queue]);
    if (model.queues[queue].large) COVER(TURN_LEASE_LARGE);
    if (count > 0 && company) COVER(TURN_LEASE_BOTH);
    return count;
}

/* Where groups have limits, any number may be put off, and others be leased. */
static void put_off_some(const turn *t, int queue)
{
    const model_seen *seen = model_look();
    for (int id = 0; seen && id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        if (task->state != READY || seen->queues[queue].tasks[id].state != SCHEDULED) continue;
        if ((task->group && !task->keeps) || task->crashes < 2 || !model_has_another_suspect(t, queue, id))
            model_differ("turn puts %s off", model_id(id));
        model_move(task, SCHEDULED, model.now_ms + PUT_OFF);
        task->placed = true;
        COVER(GATE_OFF);
    }
}

/* Asked when it is known who was put off: where groups have limits, those behind him are leased in the same turn. It
 * is the one thing that goes before the order: a session that holds a suspect lets another one pass, which has its
 * place again a second later. */
static void check_orders(const turn *t, int queue)
{
    for (int i = 0; i < t->leased; i++) {
        if (t->given[i].queue != queue) continue;
        const model_task *task = model_task_of(queue, t->given[i].id);
        check_order(queue, t->given[i].id);
        for (int j = i + 1; j < t->leased; j++)
            if (t->given[j].queue == queue)
                check_before(task, model_task_of(queue, t->given[j].id), t->given[i].id, t->given[j].id);
    }
}

/* Of those that were ready before, and that no limit holds, the first ones. */
static void check_scores(const turn *t, int queue)
{
    const int64_t *scores = t->scores[queue];
    for (int i = 0; i < t->leased; i++) {
        int id = t->given[i].id;
        if (t->given[i].queue != queue || scores[id] == -1) continue;
        for (int other = 0; other < SLOTS; other++)
            if (scores[other] != -1 && scores[other] < scores[id] && model_task_of(queue, other)->state == READY)
                model_differ("turn leases %s, of score %lld, before %s, of score %lld", model_id(id),
                             (long long)scores[id], model_id(other), (long long)scores[other]);
    }
}

/* Which task it was is seen in Redis: a crashed one that might have been leased, but for the session's other. */
static void put_off(const turn *t, int queue)
{
    int priority = lowest(queue), found = 0;
    const model_seen *seen = model_look();
    for (int id = 0; seen && id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        if (task->state != READY || seen->queues[queue].tasks[id].state != SCHEDULED) continue;
        if (task->priority != priority || task->crashes < 2 || !model_has_another_suspect(t, queue, id))
            model_differ("turn puts %s off", model_id(id));
        model_move(task, SCHEDULED, model.now_ms + PUT_OFF);
        task->placed = true;
        found++;
    }
    if (found != 1) model_differ("turn puts %d tasks off, not 1", found);
    COVER(TURN_PUT_OFF);
}

static const rv_reply *leased_at(const rv_reply *reply, int index)
{
    for (size_t i = 4; i < reply->count; i++)
        if (rv_reply_int(rv_reply_at(reply->items[i], 0), -1) == index) return reply->items[i];
    return NULL;
}

static void check_gone(const turn *t, const rv_reply *gone)
{
    size_t count = 0;
    for (int i = 0; i < t->from; i++) {
        bool actual = false;
        for (size_t j = 0; j < gone->count; j++) actual = actual || rv_reply_int(gone->items[j], -1) == i + 1;
        if (actual != t->gone[t->keys[i]]) model_differ("turn says %s are gone", test_reply_text(gone));
        count += actual;
    }
    if (gone->count != count) model_differ("turn says %s are gone", test_reply_text(gone));
}

static bool is_told_idle(const rv_reply *extras)
{
    for (size_t i = 0; i < extras->count; i++)
        if (extras->items[i]->count == 1 && rv_reply_is_text(rv_reply_at(extras->items[i], 0), "idle")) return true;
    return false;
}

/* Who found nothing waits to be handed a task; not where nothing is handed over, nor where something is left. */
static void check_idle(turn *t, bool actual)
{
    int queue = t->keys[0], session = model.hands[t->hand].session[queue];
    bool may = !model.queues[queue].paused && !*t->limit_state[queue] && model.sessions[session].life == ALIVE;
    bool nothing = t->idles && may && model_count(queue, READY) == 0;
    bool expected = nothing && t->leased == 0, other_expected = t->other >= 0 && nothing && t->leased < 2;
    t->other_idle = t->other >= 0 && model_is_idle(queue, session, t->other);
    if ((t->idle || t->other_idle) != actual) model_differ("turn says that a thread is idle, or does not");
    if (t->idle != expected) model_differ("the thread is %s idle", t->idle ? "" : "not");
    if (t->other_idle != other_expected) model_differ("the other thread is %s idle", t->other_idle ? "" : "not");
    if (t->other_idle) COVER(HAND_SEVERAL);
    if (t->idle && t->again) COVER(HAND_AGAIN);
    if (t->idle) COVER(HAND_IDLE);
}

/* True when it was handed something before it turned: then it gets nothing else. */
static bool is_already_told(turn *t)
{
    int queue = t->keys[0], session = model.hands[t->hand].session[queue];
    bool stands = model_is_idle(queue, session, t->thread);
    t->idle = stands;
    return t->again && !stands;
}

/* From all that were asked for, in their order. Returns how many there were. */
static size_t lease_some(turn *t, const rv_reply *reply)
{
    size_t groups = 0;
    int want = t->want;
    bool alone = false;
    for (int i = 0; i < t->from && want > 0 && !alone; i++) {
        const rv_reply *leased = leased_at(reply, i + 1);
        int count = lease_from(t, t->keys[i], want, leased, reply, &alone);
        groups += leased != NULL;
        want -= count;
    }
    return groups;
}

void model_lease_all(turn *t, const rv_reply *reply)
{
    const rv_reply *extras = rv_reply_at(reply, 3);
    bool actual = is_told_idle(extras);
    t->idle = t->other_idle = false;
    t->leased = 0;
    t->told = 0;
    for (int queue = 0; queue < QUEUES; queue++) t->gone[queue] = t->looked[queue] = t->put_off[queue] = false;
    memset(t->started, 0, sizeof(t->started));
    memset(t->units, 0, sizeof(t->units));
    memset(t->debt, 0, sizeof(t->debt));
    bool already = t->idles && is_already_told(t) && actual;
    size_t groups = already ? 0 : lease_some(t, reply);
    if (reply->count != 4 + groups) model_differ("turn leases from %zu queues, not %zu", reply->count - 4, groups);
    if (extras->count != t->told + actual) model_differ("turn tells of %zu tasks, not %zu", extras->count, t->told);
    check_gone(t, rv_reply_at(reply, 2));
    for (int queue = 0; queue < QUEUES; queue++) {
        if (t->put_off[queue]) put_off(t, queue);
        if (!has_limited_groups(t, queue)) check_scores(t, queue);
        if (!has_limited_groups(t, queue)) continue;
        put_off_some(t, queue);
        if (!strchr(t->limit_state[queue], 't')) check_orders(t, queue);
        model_take_over_parked(queue, true);
    }
    if (!already && t->idles) check_idle(t, actual);
    if (!already) return;
    t->idle = true;
    COVER(HAND_ALREADY);
}
