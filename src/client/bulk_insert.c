#include "client/bulk_insert.h"

#include <stdio.h>
#include <string.h>

#include "base/id.h"
#include "protocol/definition.h"
#include "protocol/envelope.h"
#include "protocol/partition.h"
#include "protocol/scripts.h"
#include "protocol/spec.h"

/* Calls with less payload are sent as arguments of the script: separate commands would not pay. */
#define MUCH ((size_t)16 * 1024)

/* After a bulk insert that failed in a queue, which uses groups, events or a limit of payloads, so many calls to that queue
 * are sent as arguments. Its partitions have the same settings, and usually groups, too: they count as one queue. */
#define UNCOMMON_CALLS 64

/* The commands of a bulk insert. The first two make the transaction fail if it was forbidden
 * (rv_bulk_insert_forbid). */
enum { WATCH, DEL, MULTI, RPUSH, HSET, SCRIPT, EXEC };

/* ---- Redis's clock --------------------------------------------------------------------------------------------- */

/* Rounded down, and without the time that the reply took: times computed from it are never ahead of Redis. */
void rv_bulk_insert_note_clock(reeve_client *client, int64_t now_ms)
{
    client->clock_known = true;
    client->clock_ahead_ms = now_ms - rv_now_ms() - 1;
    client->clock_epoch = rv_conn_epoch(client->conn);
}

void rv_bulk_insert_note_uncommon(reeve_client *client, const char *queue)
{
    rv_copy_text(client->uncommon, sizeof(client->uncommon), queue);
    rv_partition_strip(client->uncommon);
    client->uncommon_calls = UNCOMMON_CALLS;
}

static bool is_common(reeve_client *client, const char *queue)
{
    size_t length = rv_partition_base(queue, strlen(queue));
    bool same = strlen(client->uncommon) == length && memcmp(client->uncommon, queue, length) == 0;
    if (client->uncommon_calls == 0 || !same) return true;
    client->uncommon_calls--;
    return false;
}

static bool is_much(const rv_enqueue_call *call)
{
    return call->fresh && (call->count >= RV_SEGMENT_MANY || (call->count >= RV_SEGMENT_MIN && call->bytes >= MUCH));
}

bool rv_bulk_insert_pays(rv_enqueue_pipeline *p, const rv_enqueue_call *call)
{
    reeve_client *client = p->client;
    return is_much(call) && client->can_bulk_insert && !client->cannot_bulk_insert && client->clock_known &&
           client->clock_epoch == rv_conn_epoch(client->conn) && is_common(client, p->specs[call->first].queue);
}

bool rv_bulk_insert_needs_probe(const rv_enqueue_pipeline *p, const rv_enqueue_call *call)
{
    return is_much(call) && !p->client->can_bulk_insert && !p->client->cannot_bulk_insert && !p->asking;
}

/* ---- what is sent ---------------------------------------------------------------------------------------------- */

typedef struct bulk_inserting {
    rv_prefix prefix;
    char at[24];
    char segment[16];
    char list[16 + sizeof("segment:")];
    char fence[16 + sizeof("bulk_closed:")];
    char head[64]; /* of every envelope */
} bulk_inserting;

static bulk_inserting describe(const reeve_client *client, const char *queue, unsigned segment)
{
    bulk_inserting ret;
    int64_t at_ms = rv_now_ms() + client->clock_ahead_ms;
    rv_keys_set_prefix(&ret.prefix, client->ns, queue);
    (void)snprintf(ret.at, sizeof(ret.at), "%lld", (long long)at_ms);
    (void)snprintf(ret.segment, sizeof(ret.segment), "%u", segment);
    (void)snprintf(ret.list, sizeof(ret.list), "segment:%u", segment);
    (void)snprintf(ret.fence, sizeof(ret.fence), "bulk_closed:%u", segment);
    (void)snprintf(ret.head, sizeof(ret.head), "{\"at\":%s,\"p\":%s,", ret.at, ret.segment);
    return ret;
}

/* Always of nine digits. */
static unsigned new_segment(void)
{
    return 100000000 + (unsigned)(rv_random_unit() * 899999999);
}

static void add_key(rv_conn *conn, const bulk_inserting *l, const char *name)
{
    rv_arg2(conn, l->prefix.text, l->prefix.length, name, strlen(name));
}

static void add_envelope(rv_conn *conn, rv_buf *scratch, const bulk_inserting *l, const reeve_task_spec *spec)
{
    rv_buf_clear(scratch);
    rv_buf_adds(scratch, l->head);
    rv_spec_write_head(scratch, spec);
    rv_arg_lent2(conn, scratch->data, scratch->length, spec->payload.data, spec->payload.length);
}

static void add_script(rv_conn *conn, const bulk_inserting *l, size_t count)
{
    rv_cmd_script(conn, &rv_script_enqueue, 1, 4);
    add_key(conn, l, "");
    rv_args(conn, "bulk");
    rv_args(conn, l->at);
    rv_args(conn, l->segment);
    rv_argi(conn, (int64_t)count);
}

static void begin(rv_conn *conn, const bulk_inserting *l, const char *name, const char *key, size_t more)
{
    rv_cmd(conn, (key ? 2 : 1) + more);
    rv_args(conn, name);
    if (key) add_key(conn, l, key);
}

void rv_bulk_insert_build(rv_enqueue_pipeline *p, rv_conn *conn, rv_enqueue_call *call)
{
    call->segment = new_segment();
    bulk_inserting l = describe(p->client, p->specs[call->first].queue, call->segment);
    size_t end = call->first + call->span;
    begin(conn, &l, "WATCH", l.fence, 0);
    begin(conn, &l, "DEL", l.fence, 0);
    begin(conn, &l, "MULTI", NULL, 0);
    /* The list of ids first: if Redis executes the commands without a transaction, a repeated call finds the tasks
     * by it. */
    begin(conn, &l, "RPUSH", l.list, call->count);
    for (size_t i = call->first; i < end; i++) {
        if (p->results[i].status == REEVE_OK) rv_args(conn, p->results[i].id);
    }
    begin(conn, &l, "HSET", "tasks", 2 * call->count);
    for (size_t i = call->first; i < end; i++) {
        if (p->results[i].status != REEVE_OK) continue;
        rv_args(conn, p->results[i].id);
        add_envelope(conn, &p->client->scratch, &l, &p->specs[i]);
    }
    add_script(conn, &l, call->count);
    begin(conn, &l, "EXEC", NULL, 0);
}

/* The probe is an empty transaction. */
enum { ASK_END = MULTI + 1 };

void rv_bulk_insert_probe(rv_enqueue_pipeline *p, rv_conn *conn, const rv_enqueue_call *call)
{
    bulk_inserting l = describe(p->client, p->specs[call->first].queue, 0);
    p->asking = true;
    begin(conn, &l, "WATCH", l.fence, 0);
    begin(conn, &l, "DEL", l.fence, 0);
    begin(conn, &l, "MULTI", NULL, 0);
    begin(conn, &l, "EXEC", NULL, 0);
}

/* A transaction that watches the key fails because it is set; one that begins later deletes the key, which makes it
 * fail, too. */
void rv_bulk_insert_forbid(const rv_enqueue_pipeline *p, rv_conn *conn, const rv_enqueue_call *call)
{
    bulk_inserting l = describe(p->client, p->specs[call->first].queue, call->segment);
    begin(conn, &l, "SET", l.fence, 3);
    rv_args(conn, "1");
    rv_args(conn, "EX");
    rv_argi(conn, RV_BULK_KEY_S);
}

/* ---- what is answered ------------------------------------------------------------------------------------------ */

/* Notes the reply to a probe. After a transient error the next call probes again. */
void rv_bulk_insert_probed(rv_enqueue_pipeline *p, size_t step, const rv_reply *reply)
{
    if (rv_reply_has_error_code(reply, "NOPERM") || rv_reply_has_error_code(reply, "ERR"))
        p->client->cannot_bulk_insert = true;
    if (rv_reply_is(reply, RV_ERROR)) p->asking = false;
    if (step == ASK_END && p->asking) p->client->can_bulk_insert = true;
}

/* The reply of the script among those of the transaction, or the first error before it. */
static const rv_reply *outcome_of(const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count != EXEC - MULTI - 1) return reply;
    for (size_t i = 0; i + 1 < reply->count; i++) {
        if (rv_reply_is(rv_reply_at(reply, i), RV_ERROR)) return rv_reply_at(reply, i);
    }
    return rv_reply_at(reply, reply->count - 1);
}

/* Redis refused to queue a command, and discards the transaction; or it refused MULTI, and executes the other
 * commands without a transaction. */
static void note_refusal(rv_enqueue_pipeline *p, size_t step, const rv_reply *reply)
{
    /* A busy Redis still accepts WATCH and MULTI: if they are refused, the user may not call them, or they are
     * renamed. */
    bool passing = step == DEL && !rv_reply_has_error_code(reply, "NOPERM");
    if (step <= MULTI && !passing) p->client->cannot_bulk_insert = true;
    if (step < MULTI) return;
    if (step == MULTI) p->bare = true;
    if (p->refused.status == REEVE_OK) (void)rv_fail(&p->refused, REEVE_EREDIS, "%s", reply->text);
}

/* The error of a command explains more than that the transaction was discarded. */
static const rv_reply *refusal_of(rv_enqueue_pipeline *p, const rv_reply *reply)
{
    if (p->refused.status == REEVE_OK) return reply;
    p->refusal = (rv_reply){.type = RV_ERROR, .text = p->refused.text};
    p->refusal.length = strlen(p->refusal.text);
    return &p->refusal;
}

const rv_reply *rv_bulk_insert_reply(rv_enqueue_pipeline *p, size_t step, const rv_reply *reply)
{
    bool failed = rv_reply_is(reply, RV_ERROR);
    if (step == WATCH) {
        rv_error_clear(&p->refused);
        p->bare = false;
    }
    if (step == SCRIPT && p->bare) return reply;
    if (step < EXEC && failed) note_refusal(p, step, reply);
    if (step < EXEC || p->bare) return NULL;
    if (failed) return refusal_of(p, reply);
    reply = outcome_of(reply);
    if (!rv_reply_is(reply, RV_NIL) && !rv_reply_has_error_code(reply, "NOSCRIPT")) return reply;
    p->again = true;
    return NULL;
}
