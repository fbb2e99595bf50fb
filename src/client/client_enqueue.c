/*
 * client_enqueue.c - producing: sends the calls of enqueue.lua that enqueue_plan.c plans, many in a pipeline, and reads
 * their replies.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "client/buffer.h"
#include "client/bulk_insert.h"
#include "client/client.h"
#include "client/client_enqueue.h"
#include "client/client_layers.h"
#include "client/confirm.h"
#include "client/enqueue_again.h"
#include "client/enqueue_plan.h"
#include "client/fan.h"
#include "client/outbox.h"
#include "client/partition_enqueue.h"
#include "client/stand_in.h"
#include "client/stepwise.h"
#include "protocol/enqueue_refusal.h"
#include "protocol/envelope.h"
#include "protocol/format.h"
#include "protocol/outgoing.h"
#include "protocol/parents.h"
#include "protocol/partition.h"
#include "protocol/scripts.h"
#include "protocol/spec.h"

/* What a client holds between its calls. */
#define SCRATCH_KEPT ((size_t)16 * 1024)

/* How long the client uses Redis's clock before it asks for it again, and the assumed drift: one ms in so many. */
#define CLOCK_MS 60000
#define DRIFT 2000

typedef rv_enqueue_call call;
typedef rv_enqueue_pipeline pipeline;

static void add_options(rv_conn *conn, rv_buf *scratch, const reeve_task_spec *spec)
{
    rv_buf_clear(scratch);
    rv_spec_write_options(scratch, spec);
    rv_arg(conn, scratch->data, scratch->length);
}

static void add_envelope(rv_conn *conn, rv_buf *scratch, const reeve_task_spec *spec)
{
    rv_buf_clear(scratch);
    rv_spec_write_head(scratch, spec);
    rv_arg_lent2(conn, scratch->data, scratch->length, spec->payload.data, spec->payload.length);
}

/* Queues that Redis may not know of yet are put into <ns>:queues first, and the version of the data is noted. */
static void build_announcements(const pipeline *p, rv_conn *conn)
{
    bool any = false;
    rv_known_queues_renew(&p->client->known, rv_conn_epoch(p->client->conn));
    for (size_t i = 0; i < p->call_count; i++) {
        const char *queue = p->specs[p->calls[i].first].queue;
        bool same = i > 0 && strcmp(queue, p->specs[p->calls[i - 1].first].queue) == 0;
        if (same || rv_known_queues_has(&p->client->known, queue)) continue;
        rv_cmd(conn, 3);
        rv_args(conn, "SADD");
        rv_arg2(conn, p->client->ns, strlen(p->client->ns), ":queues", 7);
        rv_arg(conn, queue, rv_partition_canonical_length(queue, strlen(queue)));
        any = true;
    }
    if (any) rv_format_note(conn, p->client->ns);
}

/* Where what is known of Redis's clock is old. */
static void build_clock(pipeline *p, rv_conn *conn)
{
    const rv_redis_clock *clock = rv_conn_clock(conn);
    p->clock_command = SIZE_MAX;
    if (!clock->known || rv_now_ms() - clock->noted_ms < CLOCK_MS) return;
    p->clock_command = rv_conn_pending(conn);
    rv_cmd(conn, 1);
    rv_args(conn, "TIME");
}

/* Behind a bulk-inserted call, which is repeated as a whole if Redis does not know the script (on_reply): this one
 * must not be executed before. */
static void begin_script(const pipeline *p, rv_conn *conn, size_t args)
{
    if (!p->bulk_inserting) {
        rv_cmd_script(conn, &rv_script_enqueue, 1, args);
        return;
    }
    rv_cmd(conn, 4 + args);
    rv_args(conn, "EVALSHA");
    rv_args(conn, rv_script_enqueue.sha);
    rv_args(conn, "1");
}

/* The first try of this call was sent so long ago, or less; and what Redis's clock said then, or less. */
static void write_again(const reeve_client *client, char *ret, size_t size)
{
    const rv_redis_clock *clock = &client->began_clock;
    int64_t began = client->began_ms, elapsed = rv_now_ms() - began + 1;
    int64_t at = began + clock->ahead_ms - (began > clock->noted_ms ? (began - clock->noted_ms) / DRIFT : 0);
    if (clock->known)
        (void)snprintf(ret, size, "again %lld %lld", (long long)elapsed, (long long)(at > 0 ? at : 0));
    else
        (void)snprintf(ret, size, "again %lld", (long long)elapsed);
}

/* How the tasks of a call come (enqueue.lua). lost: the reply to an earlier try was; else what an earlier try was
 * refused as a whole may be sent as if it had been. */
static void add_way(const pipeline *p, rv_conn *conn, bool plain, bool idle, bool lost)
{
    char way[64];
    if (!lost) {
        rv_args(conn, idle ? "idle" : plain ? "plain" : p->again ? "1" : "0");
        return;
    }
    write_again(p->client, way, sizeof(way));
    rv_args(conn, way);
}

static void build_call(pipeline *p, rv_conn *conn, call *c, bool lost)
{
    rv_prefix prefix;
    bool again = lost || p->again;
    bool plain = c->plain && !again, idle = plain && c->count == 1 && p->client->handed_over;
    c->bulk_inserted = plain && rv_bulk_insert_pays(p, c);
    if (c->bulk_inserted) {
        rv_bulk_insert_build(p, conn, c);
        p->bulk_inserting = true;
        return;
    }
    rv_keys_set_prefix(&prefix, p->client->ns, p->specs[c->first].queue);
    begin_script(p, conn, 1 + (plain ? 2 : 3) * c->count);
    rv_arg(conn, prefix.text, prefix.length);
    add_way(p, conn, plain, idle, lost);
    for (size_t i = c->first; i < c->first + c->span; i++) {
        if (p->results[i].status != REEVE_OK) continue;
        rv_args(conn, p->results[i].id);
        if (plain) continue;
        add_options(conn, &p->client->scratch, &p->specs[i]);
        add_envelope(conn, &p->client->scratch, &p->specs[i]);
    }
    for (size_t i = c->first; plain && i < c->first + c->span; i++) {
        if (p->results[i].status == REEVE_OK) add_envelope(conn, &p->client->scratch, &p->specs[i]);
    }
    if (plain && rv_bulk_insert_needs_probe(p, c)) rv_bulk_insert_probe(p, conn, c);
}

static void build_pipeline(rv_conn *conn, bool again, const void *context)
{
    pipeline *p = *(pipeline *const *)context;
    p->bulk_inserting = p->asking = false;
    p->lost = p->lost || again;
    build_announcements(p, conn);
    build_clock(p, conn);
    for (size_t i = 0; i < p->call_count; i++) {
        if (p->calls[i].segment > 0 && !p->calls[i].answered) rv_bulk_insert_forbid(p, conn, &p->calls[i]);
    }
    for (size_t i = 0; i < p->call_count; i++) {
        call *c = &p->calls[i];
        c->commands = 0;
        if (c->answered) continue;
        c->command = rv_conn_pending(conn);
        build_call(p, conn, c, again);
        c->commands = rv_conn_pending(conn) - c->command;
    }
}

/* The whole call failed, and all its tasks with it. An earlier try may have enqueued tasks that are refused now. */
static void on_odd_reply(pipeline *p, const call *c, const rv_reply *reply)
{
    bool refused = rv_reply_is(reply, RV_ERROR);
    reeve_status status = !refused ? REEVE_EPROTO : p->lost ? REEVE_ELOST : REEVE_EREDIS;
    const char *queue = p->specs[c->first].queue;
    rv_error error = {0};
    (void)rv_fail(&error, status, "queue %s: %s%s%s", queue, refused ? reply->text : "unexpected reply",
                  refused ? rv_refusal_advice(reply->text) : "",
                  p->lost ? "; the reply to an earlier try was lost: unknown whether the task was enqueued" : "");
    rv_client_note_cause(p->client, queue, &error);
    for (size_t i = c->first; i < c->first + c->span; i++) {
        if (p->results[i].status == REEVE_OK && rv_enqueue_plan_note_failure(p, i, status)) p->error = error;
    }
}

/* The task is not there, and may have been: records of ended tasks have gone since it was sent first. */
static void note_unknown(pipeline *p)
{
    rv_error error = {0};
    (void)rv_fail(
        &error, REEVE_ELOST,
        "the connection was lost before the reply; unknown whether the task was enqueued: it is not there, and "
        "may have ended and not be kept");
    rv_client_note_cause(p->client, "", &error);
}

/* A text refuses the task (enqueue_refusal.h). */
static reeve_status read_refusal(pipeline *p, size_t index, const char *text)
{
    reeve_enqueued *result = &p->results[index];
    const char *queue = p->specs[index].queue, *words;
    rv_error error = {0};
    reeve_status status = rv_enqueue_refusal_read(text, &words);
    if (status != REEVE_ETOOBIG) {
        rv_copy_text(result->id, sizeof(result->id), words);
        return status;
    }
    (void)rv_enqueue_refusal_explain_size(&error, queue, words);
    rv_client_note_cause(p->client, queue, &error);
    return status;
}

/* The answer for one task: a number or, for a refusal, a text. */
static void on_answer(pipeline *p, size_t index, const rv_reply *answer)
{
    reeve_enqueued *result = &p->results[index];
    reeve_status status = REEVE_EEXISTS;
    if (rv_reply_is(answer, RV_INT) && answer->number > 0) return;
    if (rv_reply_is(answer, RV_TEXT)) {
        status = read_refusal(p, index, answer->text);
    } else if (rv_reply_is(answer, RV_INT) && answer->number < 0) {
        note_unknown(p);
        status = REEVE_ELOST;
    }
    if (!rv_enqueue_plan_note_failure(p, index, status)) return;
    char words[sizeof(p->error.text)];
    reeve_enqueued_error(p->client, &p->specs[index], result, words, sizeof(words));
    (void)rv_fail(&p->error, result->status, "%s", words);
}

/* The outcome of one call: an error for all its tasks, or something for each. */
static void on_outcome(pipeline *p, call *c, const rv_reply *reply)
{
    size_t at = 0;
    bool alike = rv_reply_is(reply, RV_INT);
    if (rv_client_put_off(p->client, reply)) return;
    c->answered = true;
    p->client->handed_over = alike && reply->number == 2;
    if (!alike && (!rv_reply_is(reply, RV_ARRAY) || reply->count != c->count)) {
        on_odd_reply(p, c, reply);
        return;
    }
    if (alike && c->count > 1) rv_bulk_insert_note_clock(p->client, reply->number);
    if (!alike && c->bulk_inserted) rv_bulk_insert_note_uncommon(p->client, p->specs[c->first].queue);
    for (size_t i = c->first; i < c->first + c->span; i++) {
        if (p->results[i].status == REEVE_OK) on_answer(p, i, alike ? reply : rv_reply_at(reply, at++));
    }
    rv_known_queues_add(&p->client->known, p->specs[c->first].queue);
}

static void on_reply(size_t index, const rv_reply *reply, void *context)
{
    pipeline *p = context;
    size_t i = 0;
    while (i < p->call_count && (index < p->calls[i].command || index - p->calls[i].command >= p->calls[i].commands))
        i++;
    if (index == p->clock_command) rv_redis_clock_note(rv_conn_clock(p->client->conn), reply);
    if (i == p->call_count) return; /* the reply of the SADD of a queue */
    call *c = &p->calls[i];
    if (c->bulk_inserted) {
        reply = rv_bulk_insert_reply(p, index - c->command, reply);
    } else if (index > c->command) {
        rv_bulk_insert_probed(p, index - c->command - 1, reply);
        return;
    } else if (p->bulk_inserting && rv_reply_has_error_code(reply, "NOSCRIPT")) {
        p->again = true;
        return;
    }
    if (reply != NULL) on_outcome(p, c, reply);
}

bool rv_client_enqueue_is_unknown(reeve_status status)
{
    return status == REEVE_ELOST || status == REEVE_ETIMEOUT || status == REEVE_EPROTO;
}

/* What becomes of tasks without an answer: it is not known, or they were not sent. */
static void fail_rest(pipeline *p, const rv_error *why)
{
    rv_error unknown = {0};
    reeve_status status = p->lost && !rv_client_enqueue_is_unknown(why->status) ? REEVE_ELOST : why->status;
    if (rv_client_enqueue_is_unknown(status)) {
        bool answer = strstr(why->text, "unknown") != NULL;
        (void)rv_fail(&unknown, status, "%s%s", why->text, answer ? "" : "; unknown whether the task was enqueued");
        why = &unknown;
    }
    rv_client_note_cause(p->client, "", why);
    for (size_t i = 0; i < p->call_count; i++) {
        const call *c = &p->calls[i];
        for (size_t j = c->first; !c->answered && j < c->first + c->span; j++) {
            if (p->results[j].status == REEVE_OK && rv_enqueue_plan_note_failure(p, j, why->status)) p->error = *why;
        }
    }
}

/* Redis is not there: what is left would only wait for one timeout each. */
static bool is_outage(reeve_status status)
{
    return status == REEVE_ECONNECT || status == REEVE_ELOST || status == REEVE_ETIMEOUT;
}

/* Registers tasks with their parents in other queues. A worker delivers the messages that cannot be delivered now. */
static void carry_edges(reeve_client *client, const reeve_task_spec *specs, size_t count, const reeve_enqueued *results)
{
    const char *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const reeve_task_spec *spec = &specs[i];
        bool is_there = results[i].status == REEVE_OK || results[i].status == REEVE_UNCONFIRMED;
        if (!is_there || spec->after_count == 0) continue;
        if (last != NULL && strcmp(last, spec->queue) == 0) continue;
        if (!rv_parents_are_elsewhere(spec->after, spec->after_count, spec->queue)) continue;
        last = spec->queue;
        rv_outbox_client_carry(client, spec->queue);
        rv_fan_follow(client, spec->queue); /* it may have ended with a parent that is dead */
    }
}

/* What specs want to happen where their ids exist. */
static reeve_status follow_rules(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                 reeve_enqueued *results)
{
    for (size_t i = 0; i < count; i++) {
        if (results[i].status == REEVE_EEXISTS && specs[i].if_exists != REEVE_EXISTS_REFUSE)
            return rv_enqueue_again(client, specs, count, results);
    }
    return client->error.status;
}

/* Tasks of a pipeline without errors, which replicas are to have received. epoch: of the connection before it. */
static void confirm(pipeline *p, unsigned epoch)
{
    rv_error error = {0};
    reeve_confirmation wanted = {0};
    bool waits = false;
    if (p->client->confirmed_count == 0) waits = rv_confirm_add(&wanted, &p->client->confirmation);
    for (size_t i = 0; p->client->confirmed_count > 0 && i < p->call_count; i++)
        if (rv_confirm_add(&wanted, rv_confirm_find(p->client, p->specs[p->calls[i].first].queue))) waits = true;
    if (!waits) return;
    /* A reply may have come over a connection that was lost then. */
    bool same = rv_conn_epoch(p->client->conn) == epoch || !p->lost;
    if (rv_confirm_run(p->client, &wanted, same ? rv_conn_epoch(p->client->conn) : epoch, &error)) return;
    for (size_t i = 0; i < p->call_count; i++) {
        const call *c = &p->calls[i];
        for (size_t j = c->first; j < c->first + c->span; j++) {
            if (p->results[j].status == REEVE_OK && rv_enqueue_plan_note_failure(p, j, error.status)) p->error = error;
        }
    }
}

reeve_status rv_client_enqueue_run(reeve_client *client, const reeve_task_spec *specs, size_t count,
                                   reeve_enqueued *results)
{
    if (client->stand_in != NULL) return rv_stand_in_enqueue(client, specs, count, results);
    if (rv_buffer_is_on(client)) return rv_buffer_enqueue(client, specs, count, results);
    if (rv_partition_enqueue_applies(client, specs, count)) return rv_partition_enqueue(client, specs, count, results);
    return rv_client_enqueue_send(client, specs, NULL, count, results);
}

reeve_status rv_client_enqueue_send(reeve_client *client, const reeve_task_spec *specs, const unsigned *fits,
                                    size_t count, reeve_enqueued *results)
{
    pipeline p; /* not zeroed, because it is large; the plan and build set the rest */
    const pipeline *context = &p;
    rv_error outage;
    p.client = client;
    p.specs = specs;
    p.fits = fits;
    p.results = results;
    p.failed = SIZE_MAX;
    rv_error_clear(&p.error);
    rv_error_clear(&outage);
    client->cause_count = 0;
    for (size_t next = 0; next < count;) {
        next = rv_enqueue_plan_next(&p, next, count);
        if (p.call_count == 0) continue;
        p.lost = false;
        if (outage.status != REEVE_OK) {
            fail_rest(&p, &outage);
            continue;
        }
        p.again = false;
        unsigned epoch = rv_conn_epoch(client->conn);
        reeve_status status = rv_client_exec(client, build_pipeline, &context, on_reply, &p, NULL);
        if (status == REEVE_OK && p.again)
            status = rv_client_exec(client, build_pipeline, &context, on_reply, &p, NULL);
        if (status == REEVE_OK) {
            confirm(&p, epoch);
            continue;
        }
        p.lost = p.lost || client->unsure;
        fail_rest(&p, &client->error);
        if (is_outage(status)) (void)rv_fail(&outage, REEVE_ECONNECT, "not sent: %s", client->error.text);
    }
    rv_buf_clear(&client->scratch);
    rv_buf_trim(&client->scratch, SCRATCH_KEPT);
    carry_edges(client, specs, count, results);
    if (p.error.status != REEVE_OK) {
        client->error = p.error;
    } else {
        rv_error_clear(&client->error);
    }
    return p.error.status == REEVE_OK ? REEVE_OK : follow_rules(client, specs, count, results);
}

reeve_status reeve_enqueue_many_sized(reeve_client *client, const reeve_task_spec *given, size_t count,
                                      reeve_enqueued *ret_results, size_t spec_size)
{
    const reeve_task_spec *specs;
    reeve_task_spec *owned;
    if (client == NULL || (count > 0 && (given == NULL || ret_results == NULL))) return REEVE_EINVAL;
    rv_error_clear(&client->error);
    if (count > (size_t)client->size_limits.batch)
        return rv_enqueue_error_refuse_all(client, count, ret_results, RV_SIZE_LIMIT(batch), "tasks in one call");
    reeve_status status = rv_spec_read_all(&specs, &owned, given, count, spec_size, &client->error);
    if (status != REEVE_OK) {
        for (size_t i = 0; i < count; i++) ret_results[i] = (reeve_enqueued){.status = status};
        return status;
    }
    status = client->layers.count > 0 ? rv_client_layers_enqueue(client, specs, count, ret_results)
                                      : rv_client_enqueue_run(client, specs, count, ret_results);
    rv_free(owned);
    return status;
}

/* Also of a task with more parents than one call takes, which needs Redis. */
static reeve_status enqueue_one(reeve_client *client, const reeve_task_spec *spec, reeve_enqueued *result)
{
    if (spec->after_count <= REEVE_PARENTS_MAX || client->stand_in != NULL)
        return rv_client_enqueue_run(client, spec, 1, result);
    rv_buffer_switch_off(client);
    reeve_status status = rv_stepwise_enqueue(client, spec, result);
    rv_buffer_switch_on(client);
    return status;
}

static reeve_status enqueue_through_layers(reeve_client *client, reeve_task_spec *spec, reeve_enqueued *result)
{
    reeve_outgoing outgoing = {0};
    reeve_status status = rv_outgoing_apply(&outgoing, &client->layers, &client->size_limits, spec, &client->error);
    if (status == REEVE_OK) status = enqueue_one(client, spec, result);
    rv_outgoing_fini(&outgoing);
    return status;
}

reeve_status reeve_enqueue_sized(reeve_client *client, const reeve_task_spec *given, char ret_id[REEVE_ID_MAX],
                                 size_t spec_size)
{
    reeve_enqueued result = {0};
    reeve_task_spec spec;
    if (client == NULL) return REEVE_EINVAL;
    rv_error_clear(&client->error);
    reeve_status status = rv_spec_read(&spec, given, spec_size, &client->error);
    if (status != REEVE_OK) return status;
    status =
        client->layers.count > 0 ? enqueue_through_layers(client, &spec, &result) : enqueue_one(client, &spec, &result);
    bool tells = status == REEVE_OK || status == REEVE_BUFFERED || status == REEVE_UNCONFIRMED ||
                 status == REEVE_EUNIQUE || rv_client_enqueue_is_unknown(status);
    if (tells && ret_id != NULL && result.id[0] != '\0') memcpy(ret_id, result.id, sizeof(result.id));
    return status;
}
