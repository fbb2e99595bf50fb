/*
 * client_maintain.c - maintains a queue that no worker serves, with the script that workers call.
 */
#include "reeve/maintain.h"

#include <string.h>

#include "client/client.h"
#include "client/fan.h"
#include "client/outbox.h"
#include "client/spread.h"
#include "protocol/maintain_call.h"
#include "protocol/reap_call.h"
#include "protocol/scripts.h"

#define OVERDUE_MIN_MS 1000 /* a worker that serves the queue is not later than that */
#define STEP_TASKS 200
#define STEPS_MAX 256

static reeve_status ask(reeve_client *client, const char *queue, reeve_maintained *ret)
{
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_overdue, .queue = queue};
    reeve_status status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < 4) return rv_client_odd_reply(client, "maintain");
    int64_t now = rv_reply_int(reply->items[0], 0), since = rv_reply_int(reply->items[1], -1);
    int64_t expired = rv_reply_int(reply->items[2], 0), untold = rv_reply_int(reply->items[3], -1);
    if (untold >= 0 && (since < 0 || untold < since)) since = untold;
    if (since < 0 || now - since <= OVERDUE_MIN_MS) return REEVE_OK;
    *ret = (reeve_maintained){.needed = true, .since_ms = since, .expired = expired > 0 ? (uint64_t)expired : 0};
    return REEVE_OK;
}

static void build_maintain(rv_conn *conn, bool again, const void *context)
{
    (void)again;
    rv_maintain_call_build(conn, context, STEP_TASKS, 0);
}

static void build_reap(rv_conn *conn, bool again, const void *context)
{
    (void)again;
    rv_reap_call_build(conn, context, STEP_TASKS, 0);
}

/* Brings the tasks of dead sessions back. */
static reeve_status reap(reeve_client *client, const rv_prefix *prefix, reeve_maintained *done)
{
    const rv_reply *reply;
    rv_reap_reply reaped = {.more = true};
    for (unsigned i = 0; i < STEPS_MAX && reaped.more; i++) {
        reeve_status status = rv_client_call(client, build_reap, prefix, &reply, NULL);
        if (status != REEVE_OK) return status;
        if (!rv_reap_call_read(&reaped, reply)) return rv_client_odd_reply(client, "reap");
        done->recovered += reaped.recovered;
    }
    return REEVE_OK;
}

static reeve_status step(reeve_client *client, const char *queue, reeve_maintained *done)
{
    const rv_reply *reply;
    rv_maintain_reply maintained;
    rv_prefix prefix;
    rv_keys_set_prefix(&prefix, client->ns, queue);
    client->can_read = true; /* what a replica does not carry out is left to the master */
    reeve_status status = rv_client_call(client, build_maintain, &prefix, &reply, NULL);
    client->can_read = false;
    if (status != REEVE_OK) return status;
    if (!rv_maintain_call_read(&maintained, reply)) return rv_client_odd_reply(client, "maintain");
    done->promoted += maintained.promoted;
    done->trimmed += maintained.trimmed;
    done->more = maintained.more || maintained.dead;
    if (maintained.dead) status = reap(client, &prefix, done);
    if (maintained.ends) rv_fan_run(client, queue);
    if (maintained.outbox > 0) rv_outbox_client_carry(client, queue);
    return status;
}

static reeve_status maintain_spread(reeve_client *client, rv_spread *spread, reeve_maintained *ret)
{
    reeve_maintained sum = {0}, part;
    reeve_status status = REEVE_OK;
    while (status == REEVE_OK && rv_spread_next(spread)) {
        status = reeve_maintain(client, spread->name, &part);
        if (status != REEVE_OK) return status;
        sum.needed = sum.needed || part.needed;
        sum.more = sum.more || part.more;
        if (part.since_ms > sum.since_ms) sum.since_ms = part.since_ms;
        sum.expired += part.expired;
        sum.recovered += part.recovered;
        sum.promoted += part.promoted;
        sum.trimmed += part.trimmed;
    }
    *ret = sum;
    return status;
}

reeve_status reeve_maintain(reeve_client *client, const char *queue, reeve_maintained *ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    rv_spread spread;
    if (rv_spread_begin(&spread, client, queue)) return maintain_spread(client, &spread, ret);
    reeve_maintained done = {0};
    reeve_status status = ask(client, queue, &done);
    done.more = done.needed;
    for (unsigned i = 0; i < STEPS_MAX && status == REEVE_OK && done.more; i++) status = step(client, queue, &done);
    if (status == REEVE_OK) *ret = done;
    return status;
}
