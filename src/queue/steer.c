/*
 * steer.c - steering: retry, cancel, delete a task; pause, resume and set up a queue.
 */
#include <stdio.h>
#include <string.h>

#include "queue/client.h"
#include "queue/scripts.h"

/* A script that answers "ok", the state that does not allow it, or "" for no such task. done: the answer of a second
 * call after a first that was carried out and whose reply was lost. */
static reeve_status steer(reeve_client *client, const rv_script *script, const char *queue, const char *id,
                          const char *done)
{
    if (client == NULL) return REEVE_EINVAL;
    reeve_status status = rv_check_id(id, &client->error);
    if (status != REEVE_OK) return status;
    const rv_reply *reply;
    bool again;
    rv_simple_call call = {.script = script, .queue = queue, .args = {id}, .count = 1};
    status = rv_client_script(client, &call, &reply, &again);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_TEXT)) return rv_client_odd_reply(client, script->name);
    if (strcmp(reply->text, "ok") == 0 || (again && strcmp(reply->text, done) == 0)) return REEVE_OK;
    if (reply->length == 0) return rv_fail(&client->error, REEVE_ENOTFOUND, "no task %s/%s (any more)", queue, id);
    return rv_fail(&client->error, REEVE_ESTATE, "cannot %s %s/%s: it is %s", script->name, queue, id, reply->text);
}

reeve_status reeve_retry(reeve_client *client, const char *queue, const char *id)
{
    return steer(client, &rv_script_retry, queue, id, "ready");
}

reeve_status reeve_cancel(reeve_client *client, const char *queue, const char *id)
{
    return steer(client, &rv_script_cancel, queue, id, "cancelled");
}

reeve_status reeve_delete(reeve_client *client, const char *queue, const char *id)
{
    return steer(client, &rv_script_delete, queue, id, "");
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
    rv_args(conn, "SADD");
    rv_arg2(conn, call->ns, strlen(call->ns), ":queues", 7);
    rv_args(conn, call->queue);
}

/* A queue that is steered before its first task is there to be seen. */
static reeve_status make_known(reeve_client *client, const char *queue)
{
    const rv_reply *reply;
    known_call call = {.ns = client->ns, .queue = queue};
    reeve_status status = rv_check_queue(queue, &client->error);
    return status == REEVE_OK ? rv_client_call(client, build_known, &call, &reply, NULL) : status;
}

static reeve_status set_paused(reeve_client *client, const char *queue, const char *paused)
{
    if (client == NULL) return REEVE_EINVAL;
    const rv_reply *reply;
    reeve_status status = make_known(client, queue);
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

/* ---- settings -------------------------------------------------------------------------------------------------- */

typedef struct settings_call {
    rv_prefix prefix;
    const reeve_queue_settings *settings;
} settings_call;

static void add_keep(rv_conn *conn, const char *age, const char *count, const reeve_keep *keep)
{
    if (keep == NULL) return;
    rv_args(conn, age);
    rv_argi(conn, keep->age_ms);
    rv_args(conn, count);
    rv_argi(conn, keep->count);
}

static void build_settings(rv_conn *conn, bool again, const void *context)
{
    const settings_call *call = context;
    (void)again;
    rv_cmd(conn, 2 + 4 * (size_t)(call->settings->completed != NULL) + 4 * (size_t)(call->settings->dead != NULL));
    rv_args(conn, "HSET");
    rv_arg2(conn, call->prefix.text, call->prefix.length, "settings", 8);
    add_keep(conn, "completed_age", "completed_count", call->settings->completed);
    add_keep(conn, "dead_age", "dead_count", call->settings->dead);
}

static reeve_status check_keep(reeve_client *client, const char *what, const reeve_keep *keep)
{
    if (keep == NULL || (keep->age_ms >= -1 && keep->count >= -1)) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "keep %s: age and count are at least -1, which is no limit", what);
}

reeve_status reeve_queue_set(reeve_client *client, const char *queue, const reeve_queue_settings *settings)
{
    if (client == NULL || settings == NULL) return REEVE_EINVAL;
    if (settings->size != 0 && settings->size != sizeof(*settings)) {
        return rv_fail(&client->error, REEVE_EINVAL, "the queue's settings have size %zu: this library knows %zu",
                       settings->size, sizeof(*settings));
    }
    reeve_status status = rv_check_queue(queue, &client->error);
    if (status == REEVE_OK) status = check_keep(client, "completed", settings->completed);
    if (status == REEVE_OK) status = check_keep(client, "dead", settings->dead);
    if (status != REEVE_OK || (settings->completed == NULL && settings->dead == NULL)) return status;
    settings_call call = {.settings = settings};
    rv_prefix_set(&call.prefix, client->ns, queue);
    const rv_reply *reply;
    return rv_client_call(client, build_settings, &call, &reply, NULL);
}
