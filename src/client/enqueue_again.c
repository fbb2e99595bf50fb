#include "client/enqueue_again.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "client/client_enqueue.h"
#include "client/confirm.h"
#include "client/outbox.h"
#include "protocol/enqueue_refusal.h"
#include "protocol/parents.h"
#include "protocol/scripts.h"
#include "protocol/spec.h"

/* By how much clocks may drift between two copies of a call. */
#define SLACK_MS 1000
#define COMMANDS 4 /* MULTI, delete, enqueue, EXEC */

/* The earlier task goes and the new one comes, in one transaction. */
typedef struct renewal {
    reeve_client *client;
    const reeve_task_spec *spec;
    reeve_enqueued *result;
    rv_buf options, rest;
    int64_t began_ms;
    bool answered;
    rv_error error;
} renewal;

/* The text of the script: within a transaction it is too late for NOSCRIPT. */
static void add_eval(rv_conn *conn, const rv_script *script, const rv_prefix *prefix, size_t args)
{
    rv_cmd_script_text(conn, script, 1, args);
    rv_arg(conn, prefix->text, prefix->length);
}

static void build(rv_conn *conn, bool again, const void *context)
{
    const renewal *r = context;
    rv_prefix prefix;
    char way[32] = "0", age[32] = "0";
    long long elapsed = (long long)(rv_now_ms() - r->began_ms) + SLACK_MS;
    if (again) {
        (void)snprintf(way, sizeof(way), "again %lld", elapsed);
        (void)snprintf(age, sizeof(age), "%lld", elapsed);
    }
    rv_keys_set_prefix(&prefix, r->client->ns, r->spec->queue);
    rv_cmd(conn, 1);
    rv_args(conn, "MULTI");
    add_eval(conn, &rv_script_delete, &prefix, 3);
    rv_args(conn, r->result->id);
    rv_args(conn, "");
    rv_args(conn, age);
    add_eval(conn, &rv_script_enqueue, &prefix, 4);
    rv_args(conn, way);
    rv_args(conn, r->result->id);
    rv_arg(conn, r->options.data, r->options.length);
    rv_arg(conn, r->rest.data, r->rest.length);
    rv_cmd(conn, 1);
    rv_args(conn, "EXEC");
}

static void take_answer(renewal *r, const rv_reply *answer)
{
    reeve_enqueued *result = r->result;
    int64_t number = rv_reply_int(answer, 0);
    r->answered = true;
    result->status = number > 0 ? REEVE_OK : number == 0 ? REEVE_EEXISTS : REEVE_ELOST;
    if (!rv_reply_is(answer, RV_TEXT)) return;
    const char *words;
    result->status = rv_enqueue_refusal_read(answer->text, &words);
    if (result->status == REEVE_ETOOBIG)
        (void)rv_enqueue_refusal_explain_size(&r->error, r->spec->queue, words);
    else
        rv_copy_text(result->id, sizeof(result->id), words);
}

/* The first error of a command is why EXEC carried nothing out. */
static void on_reply(size_t index, const rv_reply *reply, void *context)
{
    renewal *r = context;
    if (rv_client_put_off(r->client, reply)) return;
    if (rv_reply_is(reply, RV_ERROR)) {
        if (r->error.status == REEVE_OK)
            (void)rv_fail(&r->error, REEVE_EREDIS, "Redis answered: %s%s", reply->text, rv_refusal_advice(reply->text));
        return;
    }
    if (index != COMMANDS - 1 || !rv_reply_is(reply, RV_ARRAY) || reply->count != 2) return;
    const rv_reply *answer = reply->items[1];
    if (rv_reply_is(answer, RV_ARRAY) && answer->count == 1) take_answer(r, answer->items[0]);
    if (rv_reply_is(answer, RV_INT)) take_answer(r, answer);
    if (rv_reply_is(answer, RV_ERROR))
        (void)rv_fail(&r->error, REEVE_EREDIS, "Redis answered: %s%s", answer->text, rv_refusal_advice(answer->text));
}

/* epoch: of the connection over which it was enqueued. */
static void confirm(reeve_client *client, const reeve_task_spec *spec, unsigned epoch, reeve_enqueued *result)
{
    reeve_confirmation wanted = {0};
    if (!rv_confirm_add(&wanted, rv_confirm_find(client, spec->queue))) return;
    if (!rv_confirm_run(client, &wanted, epoch, &client->error)) result->status = REEVE_UNCONFIRMED;
}

static void renew(reeve_client *client, const reeve_task_spec *spec, reeve_enqueued *result)
{
    unsigned epoch = rv_conn_epoch(client->conn);
    renewal r = {.client = client, .spec = spec, .result = result, .began_ms = rv_now_ms()};
    rv_buf_init(&r.options, SIZE_MAX);
    rv_buf_init(&r.rest, SIZE_MAX);
    rv_spec_write_options(&r.options, spec);
    rv_spec_write_envelope(&r.rest, spec);
    reeve_status status = r.options.failed || r.rest.failed
                              ? rv_fail(&client->error, REEVE_ENOMEM, "no memory for a task")
                              : rv_client_exec(client, build, &r, on_reply, &r, NULL);
    if (!client->unsure) epoch = rv_conn_epoch(client->conn); /* else it may be another server's by now */
    if (status == REEVE_OK && !r.answered) {
        client->error = r.error;
        status = r.error.status != REEVE_OK ? r.error.status : rv_client_odd_reply(client, "enqueue");
    }
    if (!r.answered) result->status = status;
    if (r.answered && r.error.status != REEVE_OK) client->error = r.error;
    if (result->status == REEVE_OK && rv_parents_are_elsewhere(spec->after, spec->after_count, spec->queue))
        rv_outbox_client_carry(client, spec->queue);
    if (result->status == REEVE_OK) confirm(client, spec, epoch, result);
    rv_buf_fini(&r.options);
    rv_buf_fini(&r.rest);
}

reeve_status rv_enqueue_again(reeve_client *client, const reeve_task_spec *specs, size_t count, reeve_enqueued *results)
{
    rv_error first = {0};
    rv_error before = client->error;
    for (size_t i = 0; i < count; i++) {
        reeve_enqueued *result = &results[i];
        char words[sizeof(first.text)];
        bool renewed = result->status == REEVE_EEXISTS && specs[i].if_exists == REEVE_EXISTS_AGAIN;
        if (result->status == REEVE_EEXISTS && specs[i].if_exists == REEVE_EXISTS_IGNORE) result->status = REEVE_OK;
        if (renewed) renew(client, &specs[i], result);
        if (result->status == REEVE_OK || first.status != REEVE_OK) continue;
        if (renewed && result->status != REEVE_EEXISTS && client->error.status == result->status) {
            first = client->error;
        } else if (before.status == result->status && result->status != REEVE_EEXISTS) {
            first = before;
        } else {
            reeve_enqueued_error(client, &specs[i], result, words, sizeof(words));
            (void)rv_fail(&first, result->status, "%s", words);
        }
    }
    client->error = first;
    return first.status;
}
