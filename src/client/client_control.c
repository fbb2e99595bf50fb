/*
 * client_control.c - changes by hand: retry, cancel, delete, move a task; pause and resume a queue.
 */
#include <stdio.h>
#include <string.h>

#include "client/client.h"
#include "client/fan.h"
#include "protocol/scripts.h"
#include "reeve/depend.h"

/* A call of a script on one task, whose id is its first argument. */
typedef struct change {
    rv_simple_call call;
    const char *verb;  /* for the words */
    const char *done;  /* the answer of a second call after a first whose reply was lost; or NULL */
    bool *ret_running; /* cancel: "running" is an answer, too */
    bool cascades;
} change;

/* Informs the tasks that waited for this one, and its parents. */
static reeve_status follow(reeve_client *client, const char *queue)
{
    rv_fan_run(client, queue);
    return REEVE_OK;
}

/* The script answers "ok", or "ok more" when others are to hear of it, the state that does not allow it, "" for no such
 * task, or "unique <holder's id>". */
static reeve_status make_change(reeve_client *client, const change *what)
{
    if (client == NULL) return REEVE_EINVAL;
    const char *queue = what->call.queue, *id = what->call.args[0];
    reeve_status status = rv_keys_check_id(id, &client->error);
    if (status != REEVE_OK) return status;
    const rv_reply *reply;
    bool again;
    status = rv_client_script(client, &what->call, &reply, &again);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_TEXT)) return rv_client_odd_reply(client, what->verb);
    if (strcmp(reply->text, "ok") == 0) return REEVE_OK;
    if (strcmp(reply->text, "ok more") == 0) return follow(client, queue);
    if (what->ret_running != NULL) {
        *what->ret_running = strcmp(reply->text, "running") == 0;
        if (*what->ret_running) return what->cascades ? follow(client, queue) : REEVE_OK;
    }
    if (again && what->done != NULL && strcmp(reply->text, what->done) == 0) return REEVE_OK;
    /* A retried task may wait for its parents again. */
    if (again && what->call.script == &rv_script_retry && strcmp(reply->text, "blocked") == 0) return REEVE_OK;
    if (reply->length == 0) return rv_fail(&client->error, REEVE_ENOTFOUND, "no task %s/%s (any more)", queue, id);
    if (strncmp(reply->text, "unique ", 7) == 0) {
        return rv_fail(&client->error, REEVE_EUNIQUE, "cannot %s %s/%s: its unique key is held by %s/%s", what->verb,
                       queue, id, queue, reply->text + 7);
    }
    if (strncmp(reply->text, "children ", 9) == 0) {
        return rv_fail(&client->error, REEVE_ESTATE,
                       "cannot %s %s/%s: others wait for it (%s); cancel them, too (cascade)", what->verb, queue, id,
                       reply->text + 9);
    }
    return rv_fail(&client->error, REEVE_ESTATE, "cannot %s %s/%s: it is %s", what->verb, queue, id, reply->text);
}

reeve_status reeve_retry(reeve_client *client, const char *queue, const char *id)
{
    const change what = {{&rv_script_retry, queue, {id}, 1}, "retry", "ready", NULL, false};
    return make_change(client, &what);
}

reeve_status reeve_cancel_with_running(reeve_client *client, const char *queue, const char *id, bool *ret_running)
{
    bool running = false;
    const change what = {{&rv_script_cancel, queue, {id}, 1}, "cancel", "cancelled", &running, false};
    reeve_status status = make_change(client, &what);
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
    const change what = {{&rv_script_cancel, queue, {id, "cascade"}, 2}, "cancel", "cancelled", &running, true};
    return make_change(client, &what);
}

reeve_status reeve_delete_cascade(reeve_client *client, const char *queue, const char *id)
{
    const change what = {{&rv_script_delete, queue, {id, "cascade"}, 2}, "delete", "", NULL, true};
    return make_change(client, &what);
}

reeve_status reeve_delete(reeve_client *client, const char *queue, const char *id)
{
    const change what = {{&rv_script_delete, queue, {id}, 1}, "delete", "", NULL, false};
    return make_change(client, &what);
}

/* A number that Lua would not have exactly is beyond all times anyway, and cut there. */
static reeve_status move(reeve_client *client, const char *queue, const char *id, const char *how, int64_t number)
{
    const char *verb = strcmp(how, "priority") == 0 ? "change the priority of" : "reschedule";
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)number);
    const change what = {{&rv_script_reschedule, queue, {id, how, digits}, 3}, verb, NULL, NULL, false};
    return make_change(client, &what);
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
    const char *command; /* with the set of queues and this one */
} known_call;

static void build_known(rv_conn *conn, bool again, const void *context)
{
    const known_call *call = context;
    (void)again;
    rv_cmd(conn, 3);
    rv_args(conn, call->command);
    rv_arg2(conn, call->ns, strlen(call->ns), ":queues", 7);
    rv_args(conn, call->queue);
}

reeve_status rv_client_make_known(reeve_client *client, const char *queue)
{
    const rv_reply *reply;
    known_call call = {.ns = client->ns, .queue = queue, .command = "SADD"};
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    return status == REEVE_OK ? rv_client_call(client, build_known, &call, &reply, NULL) : status;
}

reeve_status rv_client_knows(reeve_client *client, const char *queue, bool *ret)
{
    const rv_reply *reply;
    known_call call = {.ns = client->ns, .queue = queue, .command = "SISMEMBER"};
    reeve_status status = rv_keys_check_queue(queue, &client->error);
    if (status == REEVE_OK) status = rv_client_call(client, build_known, &call, &reply, NULL);
    *ret = status == REEVE_OK && rv_reply_int(reply, 0) == 1;
    return status;
}

static reeve_status set_paused(reeve_client *client, const char *queue, const char *paused)
{
    if (client == NULL) return REEVE_EINVAL;
    const rv_reply *reply;
    reeve_status status = rv_client_make_known(client, queue);
    if (status != REEVE_OK) return status;
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
