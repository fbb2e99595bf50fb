/* Limits: how many tasks may start, and what must be true of those that may not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/model_limit_state.h"

const model_rate model_rates_known[RATES] = {{0, 0, 0}, {1, 1000, 1}, {3, 1000, 3}, {10, 100, 2}, {5000, 1000, 20}};

void model_limits_begin(void)
{
    for (int queue = 0; queue < QUEUES; queue++) {
        model_limits *l = &model.queues[queue].limits;
        l->concurrency = l->group_concurrency = NO_LIMIT;
        for (int group = 0; group <= KEYS; group++)
            l->own_concurrency[group] = l->own_rate[group] = l->own_strict[group] = NOT_SAID;
    }
}

void model_rate_text(int rate, char text[32])
{
    const model_rate *r = &model_rates_known[rate];
    text[0] = '\0';
    if (rate > 0) (void)snprintf(text, 32, "%d %d %d", r->count, r->period, r->burst);
}

/* ---- groups and types ------------------------------------------------------------------------------------------- */

const char *const model_types[TYPES] = {"t", "s", "d"};

int model_type_key(const model_task *task)
{
    return GROUPS + 1 + task->type;
}

bool model_is_limit_key(int key)
{
    return key > GROUPS + TYPES;
}

void model_key_text(int key, char text[16])
{
    if (key <= GROUPS)
        (void)snprintf(text, 16, "g%d", key);
    else if (model_is_limit_key(key))
        (void)snprintf(text, 16, "key:%c", 'a' + key - GROUPS - TYPES - 1);
    else
        (void)snprintf(text, 16, "type:%s", model_types[key - GROUPS - 1]);
}

int model_key_of(const char *text)
{
    char name[16];
    for (int key = 1; key <= KEYS; key++) {
        model_key_text(key, name);
        if (strcmp(name, text) == 0) return key;
    }
    return 0;
}

bool model_has_key(const model_task *task, int key)
{
    if (model_is_limit_key(key)) return task->limit_keys & MODEL_KEY_BIT(key);
    return key <= GROUPS ? task->group == key : model_type_key(task) == key;
}

static bool limits_any(int queue, int first, int last)
{
    const model_limits *l = &model.queues[queue].limits;
    for (int key = first; key <= last; key++)
        if (l->own_concurrency[key] != NOT_SAID || l->own_rate[key] != NOT_SAID) return true;
    return false;
}

bool model_limits_types(int queue)
{
    return limits_any(queue, GROUPS + 1, GROUPS + TYPES);
}

bool model_limits_keys(int queue)
{
    return limits_any(queue, GROUPS + TYPES + 1, KEYS);
}

/* ---- room ------------------------------------------------------------------------------------------------------- */

int model_running(int queue, int key)
{
    int count = 0;
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        count += task->state == RUNNING && (key == 0 || model_has_key(task, key));
    }
    return count;
}

static double rate_step(int rate)
{
    return (double)model_rates_known[rate].period / model_rates_known[rate].count;
}

/* Where many start in a millisecond, some of these go together. */
static double rate_lag(int rate)
{
    double step = rate_step(rate), lag = model_rates_known[rate].burst * step;
    return step < 1 && lag < 5 ? 5 : lag;
}

/* The clock, which is neither behind now nor further ahead than any start puts it. */
static double rate_base(const model_limits *l, int rate, double clock)
{
    double now = (double)model.now_ms, max = now + rate_lag(rate) + 1000;
    if (clock > max && clock <= max + l->debt * rate_step(rate)) COVER(RATE_DEBT);
    max += l->debt * rate_step(rate);
    if (clock > max) COVER(RATE_BOUND);
    return clock > max || clock < now ? now : clock;
}

/* As the generic cell rate algorithm has it. */
static int rate_room(const model_limits *l, int rate, double clock)
{
    double room = floor(((double)model.now_ms + rate_lag(rate) - rate_base(l, rate, clock) + 0.001) / rate_step(rate));
    return room < 0 ? 0 : (int)room;
}

static double rate_clock(const model_limits *l, int rate, double clock, int used)
{
    char text[64]; /* (clocks are kept to a microsecond) */
    (void)snprintf(text, sizeof(text), "%.3f", rate_base(l, rate, clock) + used * rate_step(rate));
    return strtod(text, NULL);
}

static int group_rate(const model_limits *l, int group)
{
    if (group > GROUPS) return l->own_rate[group] == NOT_SAID ? 0 : l->own_rate[group];
    return l->own_rate[group] == NOT_SAID ? l->group_rate : l->own_rate[group];
}

static bool is_strict(const model_limits *l, int group)
{
    if (group > GROUPS) return false;
    return l->own_strict[group] == NOT_SAID ? l->group_strict : l->own_strict[group] == 1;
}

bool model_is_strict(int queue, int group)
{
    return is_strict(&model.queues[queue].limits, group);
}

int model_keepers(int queue, int group, bool ready)
{
    int count = 0;
    for (int id = 0; id < SLOTS; id++) {
        const model_task *task = model_task_of(queue, id);
        count += task->keeps && task->group == group && (!ready || task->state == READY || task->state == PARKED);
    }
    return count;
}

static int group_concurrency(const model_limits *l, int group)
{
    if (is_strict(l, group)) return 1;
    if (group > GROUPS) return l->own_concurrency[group] == NOT_SAID ? NO_LIMIT : l->own_concurrency[group];
    return l->own_concurrency[group] == NOT_SAID ? l->group_concurrency : l->own_concurrency[group];
}

static int min(int one, int other)
{
    return one < other ? one : other;
}

int model_queue_room(int queue, int want, bool several)
{
    const model_limits *l = &model.queues[queue].limits;
    int room = want;
    if (l->concurrency != NO_LIMIT) {
        int left = l->concurrency - model_running(queue, 0);
        if (left <= 0) return 0;
        int each = several ? min(want, 2) : 1;
        room = min(min(room, left), left / 16 > each ? left / 16 : each);
    }
    if (model_hold_then(queue, 0) > model.now_ms) return 0;
    if (model_tries_then(queue, 0)) room = 1;
    return l->rate ? min(room, rate_room(l, l->rate, l->clock)) : room;
}

int model_group_room(int queue, int group)
{
    const model_limits *l = &model.queues[queue].limits;
    int room = SLOTS, concurrency = group_concurrency(l, group);
    if (concurrency != NO_LIMIT) room = concurrency - model_running(queue, group) - model_keepers(queue, group, false);
    if (is_strict(l, group) && model_keepers(queue, group, true) > 0) room = model_keepers(queue, group, true);
    if (group_rate(l, group) > 0) room = min(room, rate_room(l, group_rate(l, group), l->clocks[group]));
    if (group <= GROUPS && model_tries_then(queue, group)) room = min(room, 1);
    if (group <= GROUPS && model_hold_then(queue, group) > model.now_ms) room = 0;
    return room < 0 ? 0 : room;
}

bool model_may_queue_start(int queue, int units)
{
    const model_limits *l = &model.queues[queue].limits;
    return !l->rate || rate_room(l, l->rate, l->clock) > units;
}

bool model_has_rate(int queue, const model_task *task)
{
    const model_limits *l = &model.queues[queue].limits;
    bool has = l->rate > 0;
    for (int key = 1; key <= KEYS; key++) has = has || (model_has_key(task, key) && group_rate(l, key) > 0);
    return has;
}

bool model_may_group_start(int queue, int group, int started, int units, bool kept)
{
    const model_limits *l = &model.queues[queue].limits;
    int concurrency = group_concurrency(l, group), rate = group_rate(l, group);
    if (group <= GROUPS && model_hold_then(queue, group) > model.now_ms) return false;
    if (group <= GROUPS && model_tries_then(queue, group) && started > 1) return false;
    if (rate > 0 && rate_room(l, rate, l->clocks[group]) <= units) return false;
    int taken = model_running(queue, group) + model_keepers(queue, group, false);
    return kept || concurrency == NO_LIMIT || l->counting || taken <= concurrency;
}

void model_count_started(int queue, const int units[KEYS + 1], int debt)
{
    model_limits *l = &model.queues[queue].limits;
    if (l->rate && units[0] > 0) l->clock = rate_clock(l, l->rate, l->clock, units[0]);
    for (int group = 1; group <= KEYS; group++)
        if (group_rate(l, group) > 0 && units[group] > 0)
            l->clocks[group] = rate_clock(l, group_rate(l, group), l->clocks[group], units[group]);
    if (debt > 0) COVER(LIMIT_COST);
    if (debt > l->debt) l->debt = debt;
}

/* ---- parked and called --------------------------------------------------------------------------------------------
 */

/* When its limits are gone, its places are, too: what came just before that may come before what was parked or called. */
static bool is_unlimited(const model_limits *l, int group)
{
    return group_concurrency(l, group) == NO_LIMIT && group_rate(l, group) == 0;
}

void model_take_over_parked(int queue, bool may_park)
{
    const model_seen *seen = model_look();
    bool is_virtual = seen && strpbrk(seen->queues[queue].limit_state, "tk") != NULL;
    for (int id = 0; seen && id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        const model_seen_task *now = &seen->queues[queue].tasks[id];
        if (task->state == READY && now->state == PARKED) {
            if (!may_park || (task->group == 0 && !is_virtual)) model_differ("%s is parked", model_id(id));
            model_enter(task, PARKED);
            if (task->keeps) COVER(STRICT_PARKS);
            if (model_is_limit_key(now->parked)) COVER(KEY_PARKS);
            if (now->parked > GROUPS && now->parked <= GROUPS + TYPES) COVER(TYPE_PARKS);
            COVER(GATE_PARKS);
        } else if (task->state == PARKED && now->state == READY) {
            model_enter(task, READY);
            if (is_virtual || is_unlimited(&model.queues[queue].limits, task->group)) task->order = 0;
            COVER(GATE_CALLS);
        } else if (task->state == READY && now->state == READY && task->called && !now->called &&
                   (is_virtual || is_unlimited(&model.queues[queue].limits, task->group))) {
            task->order = 0;
        }
    }
}

static void check_parked(int queue, const model_seen_queue *seen)
{
    const model_limits *l = &model.queues[queue].limits;
    bool waits[KEYS + 1] = {false};
    for (int id = 0; id < SLOTS; id++) {
        const model_seen_task *task = &seen->tasks[id];
        model_task *known = model_task_of(queue, id);
        int group = known->group;
        if ((task->state == PARKED) != (task->parked > 0) || (task->parked && !model_has_key(known, task->parked)))
            model_differ("%s, of group %d, is %s and parked in %d", model_id(id), group, model_state_names[task->state],
                         task->parked);
        if (task->parked && task->parked_at != task->score) model_differ("%s is parked at two places", model_id(id));
        if (task->called && (!model_has_key(known, task->called) || task->state != READY))
            model_differ("%s, of group %d, is %s and called in %d", model_id(id), group, model_state_names[task->state],
                         task->called);
        if (task->parked == group && group && known->keeps && task->slot == group && is_strict(l, group) &&
            task->holder != group)
            model_differ("%s is parked, and group %d, which waits for it, does not know", model_id(id), group);
        waits[task->parked] = waits[task->called] = true;
        known->called = task->called;
        known->parked_in = task->parked;
    }
    for (int group = 1; group <= KEYS; group++) {
        bool looked_at = seen->limit_due_ms[group] || seen->limit_dirty[group];
        if (waits[group] != looked_at) model_differ("group %d is %s looked at again", group, looked_at ? "" : "not");
        if (seen->holds_up[group] && !waits[group]) model_differ("group %d waits for a parked task", group);
        if (looked_at && !strchr(seen->limit_state, 'g'))
            model_differ("group %d waits, and limit_state is %s", group, seen->limit_state);
    }
}

/* ---- what is counted ----------------------------------------------------------------------------------------------
 */

static void check_clock(const char *what, double *known, double seen, bool may_go)
{
    if (seen > 0 && fabs(seen - *known) > 0.01)
        model_differ("the rate of %s stands at %.3f, not %.3f", what, seen, *known);
    if (seen > 0) return;
    if (*known > (double)model.now_ms && !may_go) model_differ("the rate of %s does not stand at %.3f", what, *known);
    *known = 0;
}

static bool has_own(const model_limits *l)
{
    for (int group = 1; group <= KEYS; group++)
        if (l->own_concurrency[group] != NOT_SAID || l->own_rate[group] != NOT_SAID || l->own_strict[group] != NOT_SAID)
            return true;
    return false;
}

/* One that waits has a slot if it keeps that of a strict group; and loses it where the group is not strict any more. */
static void check_kept(int queue, int id, int slot)
{
    model_task *task = model_task_of(queue, id);
    bool strict = is_strict(&model.queues[queue].limits, task->group);
    if (!task->keeps || slot != task->group) {
        if (slot) model_differ("%s waits and has a slot of group %d", model_id(id), slot);
        if (task->keeps && strict) model_differ("%s has lost its slot", model_id(id));
        if (task->keeps) COVER(STRICT_NO_MORE);
        task->keeps = false;
    } else if (!strict && !model.queues[queue].limits.counting) {
        model_differ("%s keeps its slot, and its group is not strict", model_id(id));
    }
}

/* Where types have limits, what runs has a slot of its type. */
static void check_type_slot(const model_task *task, int id, const model_seen_task *seen, bool wanted)
{
    int slot = seen->type_slot;
    if (slot && (task->state != RUNNING || slot != model_type_key(task)))
        model_differ("%s has a slot of type %d", model_id(id), slot);
    if (!slot && wanted && task->state == RUNNING) model_differ("%s runs, and has no slot of its type", model_id(id));
}

/* The same of limit keys. */
static void check_key_slots(const model_task *task, int id, const model_seen_task *seen, bool wanted)
{
    int slots = seen->key_slots, has = task->state == RUNNING ? task->limit_keys : 0;
    if (slots & ~has) model_differ("%s has slots of the limit keys %d, not %d", model_id(id), slots, has);
    if (wanted && slots != has)
        model_differ("%s runs, and has slots of the limit keys %d, not %d", model_id(id), slots, has);
}

static void check_slots(int queue, const model_seen_queue *seen)
{
    const model_limits *l = &model.queues[queue].limits;
    bool counted = l->group_concurrency != NO_LIMIT || l->group_strict || l->breaks[1] || has_own(l);
    int count[KEYS + 1] = {0};
    bool by_type = strchr(seen->limit_state, 't') != NULL, by_key = strchr(seen->limit_state, 'k') != NULL;
    for (int id = 0; id < SLOTS; id++) {
        model_task *task = model_task_of(queue, id);
        int slot = seen->tasks[id].slot;
        count[slot]++;
        count[seen->tasks[id].type_slot]++;
        task->slot = slot;
        for (int key = GROUPS + TYPES + 1; key <= KEYS; key++)
            count[key] += (seen->tasks[id].key_slots & MODEL_KEY_BIT(key)) != 0;
        check_type_slot(task, id, &seen->tasks[id], by_type && !l->counting);
        check_key_slots(task, id, &seen->tasks[id], by_key && !l->counting);
        if (model_waits(task->state))
            check_kept(queue, id, slot);
        else if (slot && (task->state != RUNNING || task->group != slot || !counted))
            model_differ("%s has a slot of group %d", model_id(id), slot);
        if (counted && !l->counting && task->state == RUNNING && slot != task->group)
            model_differ("%s runs, and has no slot of group %d", model_id(id), task->group);
    }
    for (int group = 1; group <= KEYS; group++)
        if (seen->taken[group] != count[group])
            model_differ("group %d has taken %d, not %d", group, seen->taken[group], count[group]);
}

static void check_flags(const model_limits *l, bool events, const char *limit_state)
{
    bool own = has_own(l) || l->breaks[1], holds = false;
    for (int group = 1; group <= GROUPS; group++) holds = holds || l->holds_ms[group];
    if ((strchr(limit_state, 'e') != NULL) != events) model_differ("limit_state is %s, of events", limit_state);
    if ((strchr(limit_state, 'b') != NULL) != (l->breaks[0] || l->breaks[1]))
        model_differ("limit_state is %s, of breakers", limit_state);
    if ((strchr(limit_state, 'c') != NULL) != (l->concurrency != NO_LIMIT) ||
        ((strchr(limit_state, 'q') != NULL) != (l->rate || l->hold_ms) && !l->breaks[0]) ||
        (strchr(limit_state, 's') != NULL) != (own || l->group_strict || l->group_concurrency != NO_LIMIT) ||
        ((own || holds || l->group_strict || l->group_concurrency != NO_LIMIT || l->group_rate) &&
         !strchr(limit_state, 'g')))
        model_differ("limit_state is %s", limit_state);
}

static void check_number(const char *what, const char *seen, int number, int none)
{
    if (number == none ? *seen != '\0' : (*seen == '\0' || atoi(seen) != number))
        model_differ("%s is \"%s\", not %d", what, seen, number);
}

static void check_rate(const char *what, const char *seen, int rate)
{
    char text[32];
    model_rate_text(rate, text);
    if (strcmp(seen, text) != 0) model_differ("%s is \"%s\", not %s", what, seen, text);
}

static void check_settings(const model_limits *l, const model_seen_queue *seen)
{
    check_number("concurrency", seen->concurrency, l->concurrency, NO_LIMIT);
    check_number("group_concurrency", seen->group_concurrency, l->group_concurrency, NO_LIMIT);
    if ((*seen->group_strict == '1') != l->group_strict) model_differ("group_strict is \"%s\"", seen->group_strict);
    check_rate("rate", seen->rate, l->rate);
    check_rate("group_rate", seen->group_rate, l->group_rate);
    if (atoll(seen->hold) != l->hold_ms) model_differ("hold is %s", seen->hold);
    for (int group = 1; group <= KEYS; group++) {
        check_number("c:", seen->own_concurrency[group], l->own_concurrency[group], NOT_SAID);
        check_number("s:", seen->own_strict[group], l->own_strict[group], NOT_SAID);
        if (seen->has_own_rate[group] != (l->own_rate[group] != NOT_SAID)) model_differ("group %d has r:", group);
        if (l->own_rate[group] != NOT_SAID) check_rate("r:", seen->own_rate[group], l->own_rate[group]);
        if (seen->limited[group] != (l->own_concurrency[group] != NOT_SAID || l->own_rate[group] != NOT_SAID ||
                                     l->own_strict[group] != NOT_SAID))
            model_differ("group %d stands in limited or not", group);
        if (seen->holds_ms[group] != l->holds_ms[group])
            model_differ("group %d is held until %lld", group, (long long)seen->holds_ms[group]);
    }
}

void model_check_limit_state(int queue, const model_seen_queue *seen)
{
    model_limits *l = &model.queues[queue].limits;
    l->counting = seen->counting;
    model_take_over_breakers(queue, seen);
    check_settings(l, seen);
    check_flags(l, model.queues[queue].events_kept || model.queues[queue].listening_ms, seen->limit_state);
    if (model_limits_types(queue) && !strchr(seen->limit_state, 't')) model_differ("limit_state has no types");
    if (model_limits_keys(queue) && !strchr(seen->limit_state, 'k')) model_differ("limit_state has no limit keys");
    check_parked(queue, seen);
    check_slots(queue, seen);
    check_number("limit_state.running", seen->running, l->concurrency == NO_LIMIT ? -1 : model_running(queue, 0), -1);
    if (!l->rate && !l->group_rate && !has_own(l)) l->debt = 0;
    check_number("limit_state.debt", seen->debt, l->debt, 0);
    check_clock("the queue", &l->clock, seen->clock, l->rate == 0);
    for (int group = 1; group <= KEYS; group++)
        check_clock("a group", &l->clocks[group], seen->clocks[group], !l->group_rate && !has_own(l));
}

/* Nothing may start now, whoever comes. */
bool model_is_shut(int queue, const model_seen_queue *seen)
{
    model_queue *q = &model.queues[queue];
    if (model_queue_room(queue, 1, false) > 0 && seen->opens_ms <= model.now_ms) return false;
    /* When the time has come tend tells somebody. */
    if (q->limits.concurrency == NO_LIMIT || model_running(queue, 0) < q->limits.concurrency) q->token_lost = true;
    return true;
}
