/*
 * client_signal.c - sends a signal to a task that waits for it.
 */
#include "reeve/signal.h"

#include <string.h>

#include "client/client.h"
#include "client/fan.h"
#include "client/partitions.h"
#include "protocol/parents.h"
#include "protocol/scripts.h"
#include "protocol/size_limits.h"

typedef struct signal_call {
    rv_prefix prefix;
    const char *id;
    const char *name;
    reeve_bytes data;
} signal_call;

static void build_signal(rv_conn *conn, bool again, const void *context)
{
    const signal_call *call = context;
    (void)again;
    rv_cmd_script(conn, &rv_script_signal, 1, 3);
    rv_arg(conn, call->prefix.text, call->prefix.length);
    rv_args(conn, call->id);
    rv_args(conn, call->name);
    rv_arg(conn, call->data.data != NULL ? call->data.data : "", call->data.length);
}

static reeve_status check(reeve_client *client, const char *queue, const signal_call *call)
{
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status == REEVE_OK) status = rv_keys_check_id(call->id, &client->error);
    if (status == REEVE_OK) status = rv_parents_check_signal(call->name, &client->error);
    if (status == REEVE_OK && call->data.length > (size_t)client->size_limits.payload)
        status = rv_size_limits_refuse(&client->error, &client->size_limits, RV_SIZE_LIMIT(payload),
                                       "the data of a signal has %zu bytes", call->data.length);
    return status;
}

/* again: an earlier try may have been executed. */
static reeve_status read_answer(reeve_client *client, const char *queue, const signal_call *call, const rv_reply *reply,
                                bool again)
{
    rv_error *error = &client->error;
    if (!rv_reply_is(reply, RV_TEXT)) return rv_client_odd_reply(client, "signal");
    if (strcmp(reply->text, "ok") == 0) return REEVE_OK;
    if (strcmp(reply->text, "again") == 0) {
        if (again) return REEVE_OK;
        return rv_fail(error, REEVE_EEXISTS, "%s/%s has received the signal %s before; its data stays", queue, call->id,
                       call->name);
    }
    if (reply->length == 0) return rv_fail(error, REEVE_ENOTFOUND, "no task %s/%s (any more)", queue, call->id);
    if (strcmp(reply->text, "none") == 0)
        return rv_fail(error, REEVE_ESTATE, "%s/%s does not wait for the signal %s", queue, call->id, call->name);
    return rv_fail(error, REEVE_ESTATE, "cannot signal %s/%s: it is %s", queue, call->id, reply->text);
}

reeve_status reeve_signal_task(reeve_client *client, const char *queue, const char *id, const char *name,
                               reeve_bytes data)
{
    if (client == NULL || (data.data == NULL && data.length > 0)) return REEVE_EINVAL;
    signal_call call = {.id = id, .name = name, .data = data};
    const rv_reply *reply;
    bool again;
    reeve_status status = check(client, queue, &call);
    if (status != REEVE_OK) return status;
    char partition[REEVE_QUEUE_MAX + 1];
    const char *found = rv_partitions_locate(client, queue, id, partition);
    if (found == NULL) return client->error.status;
    rv_keys_set_prefix(&call.prefix, client->ns, found);
    status = rv_client_call(client, build_signal, &call, &reply, &again);
    if (status == REEVE_OK) status = read_answer(client, queue, &call, reply, again);
    /* A task that waits for a death only is not needed when the signal has come. */
    if (status == REEVE_OK) rv_fan_follow(client, found);
    return status;
}
