/*
 * client_why.c - why tasks do not run: evaluates the reply of why.lua about a queue, and the registry of workers.
 */
#include "reeve/why.h"

#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/circle.h"
#include "client/client.h"
#include "client/spread.h"
#include "client/why_explain.h"
#include "protocol/scripts.h"
#include "protocol/serving.h"
#include "protocol/why_facts.h"

#define REASONS_MAX 40

const char *reeve_reason_name(reeve_reason_kind kind)
{
    switch (kind) {
#define REASON_NAME(name, number, text) \
    case REEVE_REASON_##name:           \
        return text;
        REEVE_REASON_MAP(REASON_NAME)
#undef REASON_NAME
    }
    return "unknown";
}

void reeve_why_free(reeve_why *why)
{
    if (why == NULL) return;
    for (size_t i = 0; i < why->count; i++) {
        reeve_reason *reason = &why->reasons[i];
        rv_free(reason->group);
        rv_free(reason->handle);
        rv_free(reason->state);
        rv_free(reason->type);
        rv_free(reason->worker);
        rv_free(reason->name);
        rv_free(reason->host);
        rv_free(reason->error_kind);
    }
    rv_free(why->reasons);
    rv_free(why->queue);
    rv_free(why->id);
    rv_free(why->type);
    rv_free(why->state);
    rv_free(why);
}

/* An explanation in the making. */
typedef struct telling {
    reeve_client *client;
    const char *queue;
    const char *id; /* NULL: of the queue */
    rv_why_facts facts;
    rv_why_workers workers;
    reeve_worker_info *own_workers; /* read here: freed here */
    bool workers_known;
    rv_serving serving;
    reeve_why *why;
    char *circle;        /* handles, or NULL (circle.h) */
    size_t circle_count; /* of its tasks */
    bool no_memory;
} telling;

/* ---- reasons --------------------------------------------------------------------------------------------------- */

static void set_text(telling *t, char **place, const char *text)
{
    if (text == NULL || text[0] == '\0') return;
    *place = rv_strdup(text);
    if (*place == NULL) t->no_memory = true;
}

/* Room is for all that there can be. */
static reeve_reason *add(telling *t, reeve_reason_kind kind)
{
    reeve_reason *reason = &t->why->reasons[t->why->count];
    if (t->why->count + 1 < REASONS_MAX) t->why->count++;
    *reason = (reeve_reason){.kind = kind, .since_ms = -1, .until_ms = -1, .limit = -1, .count = -1};
    return reason;
}

static void add_counted(telling *t, reeve_reason_kind kind, int64_t count)
{
    if (count > 0) add(t, kind)->count = count;
}

/* The pause of a breaker: by the state of the breaker, see why_facts.h. */
static void add_breaker(telling *t, reeve_reason *reason, const char *state)
{
    char handle[REEVE_QUEUE_MAX + REEVE_ID_MAX + 2];
    if (state[0] != 't') return;
    (void)snprintf(handle, sizeof(handle), "%.*s/%.*s", REEVE_QUEUE_MAX, t->queue, REEVE_ID_MAX, state + 2);
    set_text(t, &reason->handle, handle);
}

static void add_pause(telling *t)
{
    const rv_why_facts *f = &t->facts;
    if (f->hold <= f->now) return;
    reeve_reason *reason = add(t, f->breaker[0] != '\0' ? REEVE_REASON_BREAKER : REEVE_REASON_PAUSED_FOR);
    reason->until_ms = f->hold;
    add_breaker(t, reason, f->breaker);
}

static void add_queue(telling *t)
{
    const rv_why_facts *f = &t->facts;
    if (f->is_paused) add(t, REEVE_REASON_PAUSED)->since_ms = f->paused;
    add_pause(t);
    if (f->concurrency >= 0 && f->counted >= f->concurrency) {
        reeve_reason *reason = add(t, REEVE_REASON_CONCURRENCY);
        reason->limit = f->concurrency;
        reason->count = f->counted;
    }
    if (f->opens > f->now) {
        reeve_reason *reason = add(t, REEVE_REASON_RATE);
        reason->rate = f->rate;
        reason->until_ms = f->opens;
    }
}

static reeve_reason *add_of_group(telling *t, reeve_reason_kind kind)
{
    reeve_reason *reason = add(t, kind);
    set_text(t, &reason->group, t->facts.group);
    return reason;
}

static void add_group(telling *t)
{
    const rv_why_facts *f = &t->facts;
    if (f->group_hold > f->now) {
        bool broken = f->group_breaker[0] != '\0';
        reeve_reason *reason = add_of_group(t, broken ? REEVE_REASON_GROUP_BREAKER : REEVE_REASON_GROUP_PAUSED);
        reason->until_ms = f->group_hold;
        add_breaker(t, reason, f->group_breaker);
    }
    if (f->group_concurrency >= 0 && f->group_counted >= f->group_concurrency) {
        reeve_reason *reason = add_of_group(t, REEVE_REASON_GROUP_CONCURRENCY);
        reason->limit = f->group_concurrency;
        reason->count = f->group_counted;
    }
    if (f->group_opens > f->now) {
        reeve_reason *reason = add_of_group(t, REEVE_REASON_GROUP_RATE);
        reason->rate = f->group_rate;
        reason->until_ms = f->group_opens;
    }
}

static void add_no_handler(telling *t)
{
    char handle[REEVE_HANDLE_MAX + 1];
    reeve_reason *reason = add(t, REEVE_REASON_NO_HANDLER);
    reason->count = t->serving.taking;
    set_text(t, &reason->type, t->facts.type);
    if (t->id != NULL) return;
    (void)snprintf(handle, sizeof(handle), "%s/%s", t->queue, t->facts.head);
    set_text(t, &reason->handle, handle);
}

/* is_ready: tasks only wait for a thread. */
static void add_serving(telling *t, bool is_ready)
{
    const rv_serving *s = &t->serving;
    if (!t->workers_known) return;
    if (s->workers == 0)
        (void)add(t, REEVE_REASON_UNSERVED);
    else if (s->taking == 0)
        add(t, REEVE_REASON_QUIET)->count = s->workers;
    else if (s->handling == 0 && !s->unsure && t->facts.type[0] != '\0')
        add_no_handler(t);
    else if (is_ready && s->all_busy)
        add(t, REEVE_REASON_BUSY)->count = s->threads;
}

static void add_ended(telling *t, reeve_reason_kind kind)
{
    reeve_reason *reason = add(t, kind);
    reason->since_ms = t->facts.score;
    if (kind == REEVE_REASON_DEAD) set_text(t, &reason->error_kind, t->facts.kind);
}

static void add_running(telling *t)
{
    const rv_why_facts *f = &t->facts;
    bool stalled = f->expires <= f->now;
    reeve_reason *reason = add(t, stalled ? REEVE_REASON_STALLED : REEVE_REASON_RUNNING);
    reason->since_ms = stalled ? (f->expires > 0 ? f->expires : 0) : f->since;
    if (!stalled) reason->until_ms = f->expires;
    set_text(t, &reason->worker, f->worker);
    for (size_t i = 0; i < t->workers.count; i++) {
        if (strcmp(t->workers.list[i].id, f->worker) != 0) continue;
        set_text(t, &reason->name, t->workers.list[i].name);
        set_text(t, &reason->host, t->workers.list[i].host);
    }
}

static void add_parents(telling *t)
{
    const rv_why_facts *f = &t->facts;
    add(t, REEVE_REASON_BLOCKED)->count = f->pending;
    if (t->circle != NULL) {
        reeve_reason *reason = add(t, REEVE_REASON_CIRCLE);
        reason->count = (int64_t)t->circle_count;
        set_text(t, &reason->handle, t->circle);
    }
    for (size_t i = 0; i < f->parent_count; i++) {
        reeve_reason *reason = add(t, REEVE_REASON_PARENT);
        set_text(t, &reason->handle, f->parents[i].handle);
        set_text(t, &reason->state, f->parents[i].state);
    }
    if (f->outbox > 0) add(t, REEVE_REASON_MESSAGES)->count = f->outbox;
}

static void add_due(telling *t)
{
    reeve_reason *reason = add(t, REEVE_REASON_DUE);
    reason->until_ms = t->facts.score;
    if (t->facts.failures > 0) reason->failures = (unsigned)t->facts.failures;
}

static void add_place(telling *t)
{
    reeve_reason *reason = add(t, t->facts.before > 0 ? REEVE_REASON_BEHIND : REEVE_REASON_READY);
    if (t->facts.before > 0) reason->count = t->facts.before;
    reason->more = t->facts.more;
}

static void explain_task(telling *t)
{
    reeve_state state = REEVE_STATE_COUNT;
    (void)reeve_state_parse(t->facts.state, &state);
    if (state == REEVE_STATE_COMPLETED) add_ended(t, REEVE_REASON_COMPLETED);
    if (state == REEVE_STATE_DEAD) add_ended(t, REEVE_REASON_DEAD);
    if (state == REEVE_STATE_CANCELLED) add_ended(t, REEVE_REASON_CANCELLED);
    if (state == REEVE_STATE_RUNNING) add_running(t);
    if (state >= REEVE_STATE_RUNNING) return;
    if (state == REEVE_STATE_BLOCKED) add_parents(t);
    if (state == REEVE_STATE_SCHEDULED) add_due(t);
    add_queue(t);
    add_group(t);
    if (state == REEVE_STATE_PARKED) add_of_group(t, REEVE_REASON_PARKED)->count = t->facts.before;
    add_serving(t, state == REEVE_STATE_READY);
    if (state == REEVE_STATE_READY) add_place(t);
}

static void explain_queue(telling *t)
{
    const rv_why_facts *f = &t->facts;
    add_queue(t);
    add_serving(t, f->ready > 0);
    add_counted(t, REEVE_REASON_STALLED, f->expired);
    add_counted(t, REEVE_REASON_RUNNING, f->running);
    add_counted(t, REEVE_REASON_READY, f->ready);
    add_counted(t, REEVE_REASON_PARKED, f->parked);
    add_counted(t, REEVE_REASON_BLOCKED, f->blocked);
    add_counted(t, REEVE_REASON_MESSAGES, f->outbox);
    if (f->scheduled > 0) {
        reeve_reason *reason = add(t, REEVE_REASON_DUE);
        reason->count = f->scheduled;
        reason->until_ms = f->due;
    }
    if (f->ready <= 0 && f->parked <= 0 && f->blocked <= 0 && f->scheduled <= 0) (void)add(t, REEVE_REASON_EMPTY);
}

/* ---- asking ---------------------------------------------------------------------------------------------------- */

static reeve_status ask_facts_of(telling *t, const char *queue)
{
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_why, .queue = queue, .args = {t->id != NULL ? t->id : ""}, .count = 1};
    reeve_status status = rv_client_script(t->client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (rv_reply_is(reply, RV_NIL))
        return rv_fail(&t->client->error, REEVE_ENOTFOUND, "no task %s/%s (any more)", t->queue, t->id);
    if (!rv_why_facts_read(&t->facts, reply)) return rv_client_odd_reply(t->client, "why");
    t->no_memory = t->no_memory || t->facts.no_memory;
    return REEVE_OK;
}

static void add_number(int64_t *sum, int64_t number)
{
    if (number > 0) *sum = (*sum > 0 ? *sum : 0) + number;
}

/* Adds another partition. One that is at its part of a limit, or is paused, while tasks are ready in it, keeps the queue
 * from running them. */
static void add_facts(rv_why_facts *sum, const rv_why_facts *f)
{
    if (f->ready > 0 && f->concurrency >= 0 && f->counted >= f->concurrency) {
        sum->concurrency = f->concurrency;
        sum->counted = f->counted;
    }
    if (f->ready > 0 && f->opens > sum->opens) {
        sum->opens = f->opens;
        sum->rate = f->rate;
    }
    if (f->hold > sum->hold) sum->hold = f->hold;
    if (f->is_paused && !sum->is_paused) sum->paused = f->paused;
    sum->is_paused = sum->is_paused || f->is_paused;
    if (f->scheduled > 0 && (sum->scheduled <= 0 || f->due < sum->due)) sum->due = f->due;
    if (sum->type[0] == '\0') {
        rv_copy_text(sum->type, sizeof(sum->type), f->type);
        rv_copy_text(sum->head, sizeof(sum->head), f->head);
    }
    add_number(&sum->expired, f->expired);
    add_number(&sum->ready, f->ready);
    add_number(&sum->scheduled, f->scheduled);
    add_number(&sum->blocked, f->blocked);
    add_number(&sum->parked, f->parked);
    add_number(&sum->running, f->running);
    add_number(&sum->outbox, f->outbox);
}

/* Of a whole queue that is divided: of all its partitions. */
static reeve_status ask_facts(telling *t)
{
    rv_spread spread;
    bool first = true;
    if (t->id != NULL || !rv_spread_begin(&spread, t->client, t->queue)) return ask_facts_of(t, t->queue);
    rv_why_facts sum = {.concurrency = -1, .paused = -1, .type = ""};
    while (rv_spread_next(&spread)) {
        reeve_status status = ask_facts_of(t, spread.name);
        if (status != REEVE_OK) return status;
        if (first) sum.now = t->facts.now;
        first = false;
        add_facts(&sum, &t->facts);
    }
    t->facts = sum;
    return REEVE_OK;
}

/* A parent in another queue, whose state is still to be asked. */
static bool is_elsewhere(const telling *t, const rv_why_parent *parent, char queue[REEVE_QUEUE_MAX + 1],
                         char id[REEVE_ID_MAX])
{
    return rv_keys_split_handle(parent->handle, queue, id) && !rv_partition_is_same(queue, t->queue);
}

static void build_states(rv_conn *conn, bool again, const void *context)
{
    const telling *t = context;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    (void)again;
    for (size_t i = 0; i < t->facts.parent_count; i++) {
        rv_prefix prefix;
        if (!is_elsewhere(t, &t->facts.parents[i], queue, id)) continue;
        rv_keys_set_prefix(&prefix, t->client->ns, queue);
        rv_cmd_script(conn, &rv_script_why, 1, 2);
        rv_arg(conn, prefix.text, prefix.length);
        rv_args(conn, id);
        rv_args(conn, "state");
    }
}

/* {"state", its name}, or nil. */
static const char *state_of(const rv_reply *reply)
{
    const rv_reply *state = rv_reply_is(reply, RV_ARRAY) ? rv_reply_at(reply, 1) : NULL;
    if (rv_reply_is(reply, RV_NIL)) return "gone";
    return rv_reply_is(state, RV_TEXT) ? state->text : "unknown";
}

static void on_state(size_t index, const rv_reply *reply, void *context)
{
    telling *t = context;
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    size_t at = 0;
    for (size_t i = 0; i < t->facts.parent_count; i++) {
        rv_why_parent *parent = &t->facts.parents[i];
        if (is_elsewhere(t, parent, queue, id) && at++ == index)
            rv_copy_text(parent->state, sizeof(parent->state), state_of(reply));
    }
}

static reeve_status ask_parents(telling *t)
{
    char queue[REEVE_QUEUE_MAX + 1], id[REEVE_ID_MAX];
    bool elsewhere = false;
    for (size_t i = 0; i < t->facts.parent_count; i++)
        elsewhere = elsewhere || is_elsewhere(t, &t->facts.parents[i], queue, id);
    return elsewhere ? rv_client_exec(t->client, build_states, t, on_state, t, NULL) : REEVE_OK;
}

/* A task that waits for itself, by way of others, waits for ever. */
static reeve_status ask_circle(telling *t)
{
    if (strcmp(t->facts.state, "blocked") != 0) return REEVE_OK;
    return rv_circle_find(t->client, t->queue, t->id, &t->facts, &t->circle, &t->circle_count);
}

/* A user who may not read the registry gets no reasons about workers. */
static reeve_status ask_workers(telling *t)
{
    if (t->workers.list == NULL) {
        reeve_status status = reeve_workers(t->client, &t->own_workers, &t->workers.count);
        if (status != REEVE_OK) return status == REEVE_EREDIS ? REEVE_OK : status;
        t->workers.list = t->own_workers;
    }
    t->workers_known = true;
    if (rv_serving_count(&t->serving, t->workers.list, t->workers.count, t->queue,
                         t->facts.type[0] != '\0' ? t->facts.type : NULL) != REEVE_OK)
        t->no_memory = true;
    return REEVE_OK;
}

static void build_known(rv_conn *conn, bool again, const void *context)
{
    const telling *t = context;
    (void)again;
    rv_cmd(conn, 3);
    rv_args(conn, "SISMEMBER");
    rv_arg2(conn, t->client->ns, strlen(t->client->ns), ":queues", 7);
    rv_arg(conn, t->queue, rv_partition_canonical_length(t->queue, strlen(t->queue)));
}

static reeve_status ask_known(telling *t)
{
    const rv_reply *reply;
    reeve_status status = rv_client_call(t->client, build_known, t, &reply, NULL);
    if (status == REEVE_EREDIS) return REEVE_OK;
    if (status == REEVE_OK && rv_reply_int(reply, 0) != 1)
        return rv_fail(&t->client->error, REEVE_ENOTFOUND, "no queue %s: it never had a task", t->queue);
    return status;
}

/* ---- telling --------------------------------------------------------------------------------------------------- */

static reeve_status compose(telling *t)
{
    t->why = rv_zalloc(sizeof(*t->why));
    if (t->why == NULL) return rv_fail(&t->client->error, REEVE_ENOMEM, "no memory for an explanation");
    t->why->reasons = rv_zalloc_array(REASONS_MAX, sizeof(*t->why->reasons));
    if (t->why->reasons == NULL) return rv_fail(&t->client->error, REEVE_ENOMEM, "no memory for an explanation");
    t->why->now_ms = t->facts.now;
    t->why->workers = t->serving.workers;
    t->why->taking = t->serving.taking;
    set_text(t, &t->why->queue, t->queue);
    set_text(t, &t->why->id, t->id);
    if (t->id != NULL) set_text(t, &t->why->type, t->facts.type);
    set_text(t, &t->why->state, t->facts.state);
    if (t->id != NULL)
        explain_task(t);
    else
        explain_queue(t);
    return t->no_memory ? rv_fail(&t->client->error, REEVE_ENOMEM, "no memory for an explanation") : REEVE_OK;
}

static reeve_status explain(reeve_client *client, const char *queue, const char *id, const rv_why_workers *workers,
                            reeve_why **ret)
{
    telling t = {.client = client, .queue = queue, .id = id};
    if (workers != NULL) t.workers = *workers;
    reeve_status status = ask_facts(&t);
    if (status == REEVE_OK && id == NULL) status = ask_known(&t);
    if (status == REEVE_OK) status = ask_parents(&t);
    if (status == REEVE_OK && id != NULL) status = ask_circle(&t);
    if (status == REEVE_OK) status = ask_workers(&t);
    if (status == REEVE_OK) status = compose(&t);
    reeve_workers_free(t.own_workers, t.own_workers != NULL ? t.workers.count : 0);
    rv_free(t.circle);
    if (status == REEVE_OK)
        *ret = t.why;
    else
        reeve_why_free(t.why);
    return status;
}

reeve_status rv_why_explain(reeve_client *client, const char *queue, const char *id, const rv_why_workers *workers,
                            reeve_why **ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    if (id == NULL) return explain(client, queue, NULL, workers, ret);
    reeve_status status = rv_keys_check_id(id, &client->error);
    char partition[REEVE_QUEUE_MAX + 1];
    const char *found = status == REEVE_OK ? rv_partitions_locate(client, queue, id, partition) : NULL;
    return found != NULL ? explain(client, found, id, workers, ret) : client->error.status;
}

reeve_status reeve_task_why(reeve_client *client, const char *queue, const char *id, reeve_why **ret)
{
    return rv_why_explain(client, queue, id == NULL ? "" : id, NULL, ret);
}

reeve_status reeve_queue_why(reeve_client *client, const char *queue, reeve_why **ret)
{
    return rv_why_explain(client, queue, NULL, NULL, ret);
}
