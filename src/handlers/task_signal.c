/*
 * task_signal.c - the data of signals that the running task received.
 */
#include "reeve/signal.h"

#include <stdio.h>
#include <string.h>

#include "handlers/dependencies.h"
#include "handlers/task.h"
#include "protocol/keys.h"
#include "protocol/parents.h"
#include "redis/conn.h"

typedef struct data_call {
    rv_prefix prefix;
    const char *id;
    const char *name;
} data_call;

static void build_data(rv_conn *conn, const void *context)
{
    const data_call *call = context;
    char key[REEVE_ID_MAX + 16], field[REEVE_SIGNAL_NAME_MAX + 16];
    (void)snprintf(key, sizeof(key), "info:%s", call->id);
    (void)snprintf(field, sizeof(field), "signal:%s", call->name);
    rv_cmd(conn, 3);
    rv_args(conn, "HGET");
    rv_arg2(conn, call->prefix.text, call->prefix.length, key, strlen(key));
    rv_args(conn, field);
}

reeve_status reeve_task_signal(reeve_task *task, const char *name, reeve_bytes *ret)
{
    const rv_task_host *host = task->host;
    data_call call = {.id = task->id, .name = name};
    const rv_reply *reply;
    rv_error error = {0};
    *ret = (reeve_bytes){NULL, 0};
    if (rv_parents_check_signal(name, &error) != REEVE_OK) return rv_task_refuse(task, &error);
    if (host != NULL && host->text != NULL) return rv_dependencies_get_text(task, true, name, ret);
    if (host == NULL || host->ask == NULL) return REEVE_OK;
    rv_keys_set_prefix(&call.prefix, host->ns, task->queue);
    reeve_status status = host->ask(build_data, &call, &reply, host->context);
    if (status != REEVE_OK || !rv_reply_is(reply, RV_TEXT)) return status;
    return rv_dependencies_keep_result(task, reply, ret);
}
