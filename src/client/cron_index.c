#include "client/cron_index.h"

#include <string.h>

#include "base/id.h"
#include "protocol/partition.h"

typedef struct index_call {
    const char *ns, *command, *name;
    const char *queue; /* or NULL */
} index_call;

static void build(rv_conn *conn, bool again, const void *context)
{
    const index_call *call = context;
    (void)again;
    rv_cmd(conn, call->queue != NULL ? 4 : 3);
    rv_args(conn, call->command);
    rv_arg2(conn, call->ns, strlen(call->ns), ":cron", 5);
    rv_args(conn, call->name);
    if (call->queue != NULL) rv_args(conn, call->queue);
}

static reeve_status ask(reeve_client *client, const char *command, const char *name, const char *queue,
                        const rv_reply **ret)
{
    index_call call = {.ns = client->ns, .command = command, .name = name, .queue = queue};
    return rv_client_call(client, build, &call, ret, NULL);
}

reeve_status rv_cron_index_read(reeve_client *client, const char *name, char ret[REEVE_QUEUE_MAX + 1])
{
    const rv_reply *reply;
    ret[0] = '\0';
    reeve_status status = ask(client, "HGET", name, NULL, &reply);
    if (status != REEVE_OK || !rv_reply_is(reply, RV_TEXT)) return status;
    if (rv_valid_queue(reply->text, reply->length)) rv_copy_text(ret, REEVE_QUEUE_MAX + 1, reply->text);
    return REEVE_OK;
}

reeve_status rv_cron_index_write(reeve_client *client, const char *name, const char *queue)
{
    const rv_reply *reply;
    return ask(client, "HSET", name, queue, &reply);
}

reeve_status rv_cron_index_drop(reeve_client *client, const char *name, const char *queue)
{
    char known[REEVE_QUEUE_MAX + 1];
    const rv_reply *reply;
    reeve_status status = rv_cron_index_read(client, name, known);
    if (status != REEVE_OK || !rv_partition_is_same(known, queue)) return status;
    return ask(client, "HDEL", name, NULL, &reply);
}
