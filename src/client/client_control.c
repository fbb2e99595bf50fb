/*
 * client_control.c - changes by hand: retry, cancel, delete, move a task; pause and resume a queue.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "client/change_call.h"
#include "protocol/scripts.h"
#include "reeve/depend.h"

reeve_status reeve_retry(reeve_client *client, const char *queue, const char *id)
{
    const rv_change_call what = {{&rv_script_retry, queue, {id}, 1}, "retry", "ready", NULL, false};
    return rv_change_call_run(client, &what);
}

reeve_status reeve_retry_completed(reeve_client *client, const char *queue, const char *id)
{
    const rv_change_call what = {{&rv_script_retry, queue, {id, "completed"}, 2}, "retry", "ready", NULL, false};
    return rv_change_call_run(client, &what);
}

reeve_status reeve_cancel_with_running(reeve_client *client, const char *queue, const char *id, bool *ret_running)
{
    bool running = false;
    const rv_change_call what = {{&rv_script_cancel, queue, {id}, 1}, "cancel", "cancelled", &running, false};
    reeve_status status = rv_change_call_run(client, &what);
    if (status == REEVE_OK && ret_running != NULL) *ret_running = running;
    return status;
}

reeve_status reeve_cancel(reeve_client *client, const char *queue, const char *id)
{
    return reeve_cancel_with_running(client, queue, id, NULL);
}

reeve_status reeve_cancel_cascade(reeve_client *client, const char *queue, const char *id)
{
    bool running; /* its handler is asked to stop then */
    const rv_change_call what = {{&rv_script_cancel, queue, {id, "cascade"}, 2}, "cancel", "cancelled", &running, true};
    return rv_change_call_run(client, &what);
}

reeve_status reeve_cancel_with_reason(reeve_client *client, const char *queue, const char *id, const char *reason,
                                      bool cascade, bool *ret_running)
{
    if (client == NULL) return REEVE_EINVAL;
    bool running = false;
    if (reason == NULL) reason = "";
    const rv_change_call what = {{&rv_script_cancel, queue, {id, cascade ? "cascade" : "", reason}, 3},
                                 "cancel",
                                 "cancelled",
                                 &running,
                                 cascade};
    reeve_status status = rv_change_call_check_reason(client, reason);
    if (status == REEVE_OK) status = rv_change_call_run(client, &what);
    if (status == REEVE_OK && ret_running != NULL) *ret_running = running;
    return status;
}

reeve_status reeve_delete_cascade(reeve_client *client, const char *queue, const char *id)
{
    const rv_change_call what = {{&rv_script_delete, queue, {id, "cascade"}, 2}, "delete", "", NULL, true};
    return rv_change_call_run(client, &what);
}

reeve_status reeve_delete(reeve_client *client, const char *queue, const char *id)
{
    const rv_change_call what = {{&rv_script_delete, queue, {id}, 1}, "delete", "", NULL, false};
    return rv_change_call_run(client, &what);
}

/* A number that Lua would not have exactly is beyond all times anyway, and cut there. */
static reeve_status move(reeve_client *client, const char *queue, const char *id, const char *how, int64_t number)
{
    const char *verb = strcmp(how, "priority") == 0 ? "change the priority of" : "reschedule";
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)number);
    const rv_change_call what = {{&rv_script_reschedule, queue, {id, how, digits}, 3}, verb, NULL, NULL, false};
    return rv_change_call_run(client, &what);
}

reeve_status reeve_reschedule(reeve_client *client, const char *queue, const char *id, int64_t at_ms)
{
    return move(client, queue, id, "at", at_ms);
}

reeve_status reeve_reschedule_in(reeve_client *client, const char *queue, const char *id, int64_t delay_ms)
{
    if (client == NULL) return REEVE_EINVAL;
    if (delay_ms < 0)
        return rv_fail(&client->error, REEVE_EINVAL, "delay %lld ms: must not be negative", (long long)delay_ms);
    return move(client, queue, id, "in", delay_ms);
}

reeve_status reeve_set_priority(reeve_client *client, const char *queue, const char *id, int priority)
{
    if (client == NULL) return REEVE_EINVAL;
    if (priority < REEVE_PRIORITY_MIN || priority > REEVE_PRIORITY_MAX) {
        return rv_fail(&client->error, REEVE_EINVAL, "priority %d: must be from %d to %d", priority, REEVE_PRIORITY_MIN,
                       REEVE_PRIORITY_MAX);
    }
    return move(client, queue, id, "priority", priority);
}

typedef struct known_call {
    const char *ns;
    const char *queue;
} known_call;

static void build_known(rv_conn *conn, bool again, const void *context)
{
    const known_call *call = context;
    (void)again;
    rv_cmd(conn, 3);
    rv_args(conn, "SISMEMBER");
    rv_arg2(conn, call->ns, strlen(call->ns), ":queues", 7);
    rv_arg(conn, call->queue, rv_partition_canonical_length(call->queue, strlen(call->queue)));
}

reeve_status rv_client_knows(reeve_client *client, const char *queue, bool *ret)
{
    const rv_reply *reply;
    known_call call = {.ns = client->ns, .queue = queue};
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status == REEVE_OK) status = rv_client_call(client, build_known, &call, &reply, NULL);
    *ret = status == REEVE_OK && rv_reply_int(reply, 0) == 1;
    return status;
}

static void build_has_settings(rv_conn *conn, bool again, const void *context)
{
    static const char *const keys[] = {"settings", "limits", "cron"};
    const known_call *call = context;
    rv_prefix prefix;
    (void)again;
    rv_keys_set_prefix(&prefix, call->ns, call->queue);
    rv_cmd(conn, 1 + sizeof(keys) / sizeof(keys[0]));
    rv_args(conn, "EXISTS");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        rv_arg2(conn, prefix.text, prefix.length, keys[i], strlen(keys[i]));
}

reeve_status rv_client_knows_of(reeve_client *client, const char *queue, bool *ret)
{
    const rv_reply *reply;
    known_call call = {.ns = client->ns, .queue = queue};
    reeve_status status = rv_client_knows(client, queue, ret);
    if (status != REEVE_OK || *ret) return status;
    status = rv_client_call(client, build_has_settings, &call, &reply, NULL);
    *ret = status == REEVE_OK && rv_reply_int(reply, 0) > 0;
    return status;
}

static reeve_status set_paused(reeve_client *client, const char *queue, const char *paused)
{
    if (client == NULL) return REEVE_EINVAL;
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_pause, .queue = queue, .args = {paused}, .count = 1};
    return rv_client_script(client, &call, &reply, NULL);
}

reeve_status reeve_pause(reeve_client *client, const char *queue)
{
    return set_paused(client, queue, "1");
}

reeve_status reeve_resume(reeve_client *client, const char *queue)
{
    return set_paused(client, queue, "0");
}
