/*
 * steer.c - steering: retry, cancel, delete, move a task; pause, resume and set up a queue.
 */
#include <stdio.h>
#include <string.h>

#include "queue/client.h"
#include "queue/policy.h"
#include "queue/scripts.h"

/* A call of a script on one task, whose id is its first argument. */
typedef struct steering {
    rv_simple_call call;
    const char *verb; /* for the words */
    const char *done; /* the answer of a second call after a first whose reply was lost; or NULL */
} steering;

/* The script answers "ok", the state that does not allow it, "" for no such task, or "unique <holder's id>". */
static reeve_status steer(reeve_client *client, const steering *what)
{
    if (client == NULL) return REEVE_EINVAL;
    const char *queue = what->call.queue, *id = what->call.args[0];
    reeve_status status = rv_check_id(id, &client->error);
    if (status != REEVE_OK) return status;
    const rv_reply *reply;
    bool again;
    status = rv_client_script(client, &what->call, &reply, &again);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_TEXT)) return rv_client_odd_reply(client, what->verb);
    if (strcmp(reply->text, "ok") == 0) return REEVE_OK;
    if (again && what->done != NULL && strcmp(reply->text, what->done) == 0) return REEVE_OK;
    if (reply->length == 0) return rv_fail(&client->error, REEVE_ENOTFOUND, "no task %s/%s (any more)", queue, id);
    if (strncmp(reply->text, "unique ", 7) == 0) {
        return rv_fail(&client->error, REEVE_EUNIQUE, "cannot %s %s/%s: its unique key is held by %s/%s", what->verb,
                       queue, id, queue, reply->text + 7);
    }
    return rv_fail(&client->error, REEVE_ESTATE, "cannot %s %s/%s: it is %s", what->verb, queue, id, reply->text);
}

reeve_status reeve_retry(reeve_client *client, const char *queue, const char *id)
{
    const steering what = {{&rv_script_retry, queue, {id}, 1}, "retry", "ready"};
    return steer(client, &what);
}

reeve_status reeve_cancel(reeve_client *client, const char *queue, const char *id)
{
    const steering what = {{&rv_script_cancel, queue, {id}, 1}, "cancel", "cancelled"};
    return steer(client, &what);
}

reeve_status reeve_delete(reeve_client *client, const char *queue, const char *id)
{
    const steering what = {{&rv_script_delete, queue, {id}, 1}, "delete", ""};
    return steer(client, &what);
}

/* (A number that Lua would not have exactly is beyond all times anyway, and cut there.) */
static reeve_status move(reeve_client *client, const char *queue, const char *id, const char *how, int64_t number)
{
    char digits[24];
    (void)snprintf(digits, sizeof(digits), "%lld", (long long)number);
    const steering what = {{&rv_script_move, queue, {id, how, digits}, 3}, "move", NULL};
    return steer(client, &what);
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
    rv_args(conn, "SADD");
    rv_arg2(conn, call->ns, strlen(call->ns), ":queues", 7);
    rv_args(conn, call->queue);
}

reeve_status rv_client_make_known(reeve_client *client, const char *queue)
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

/* ---- settings -------------------------------------------------------------------------------------------------- */

#define POLICY_MAX 4096

typedef struct settings_call {
    rv_prefix prefix;
    const char *ns;
    const char *queue;
    const reeve_queue_settings *settings;
    rv_buf policy; /* its text; empty: none, or one that says nothing */
    char words[256]; /* of the first error */
} settings_call;

static void add_keep(rv_conn *conn, const char *age, const char *count, const reeve_keep *keep)
{
    if (keep == NULL) return;
    rv_args(conn, age);
    rv_argi(conn, keep->age_ms);
    rv_args(conn, count);
    rv_argi(conn, keep->count);
}

static void build_fields(rv_conn *conn, const settings_call *call)
{
    const reeve_queue_settings *settings = call->settings;
    bool on_dead = settings->on_dead != NULL && settings->on_dead[0] != '\0';
    size_t fields = 2 * (size_t)(settings->completed != NULL) + 2 * (size_t)(settings->dead != NULL) + on_dead;
    if (call->policy.length > 0) fields++;
    if (fields == 0) return;
    rv_cmd(conn, 2 + 2 * fields);
    rv_args(conn, "HSET");
    rv_arg2(conn, call->prefix.text, call->prefix.length, "settings", 8);
    add_keep(conn, "completed_age", "completed_count", settings->completed);
    add_keep(conn, "dead_age", "dead_count", settings->dead);
    if (on_dead) {
        rv_args(conn, "on_dead");
        rv_args(conn, settings->on_dead);
    }
    if (call->policy.length == 0) return;
    rv_args(conn, "policy");
    rv_arg(conn, call->policy.data, call->policy.length);
}

static void build_forget(rv_conn *conn, const settings_call *call, const char *field)
{
    rv_cmd(conn, 3);
    rv_args(conn, "HDEL");
    rv_arg2(conn, call->prefix.text, call->prefix.length, "settings", 8);
    rv_args(conn, field);
}

/* Workers ask for a policy when they tend the queue: they are told to do so now. */
static void build_policy(rv_conn *conn, const settings_call *call)
{
    char word[REEVE_QUEUE_MAX + 16];
    if (call->policy.length == 0) build_forget(conn, call, "policy");
    (void)snprintf(word, sizeof(word), "due %s 0", call->queue);
    rv_cmd(conn, 3);
    rv_args(conn, "PUBLISH");
    rv_arg2(conn, call->ns, strlen(call->ns), ":control", 8);
    rv_args(conn, word);
}

static void build_settings(rv_conn *conn, bool again, const void *context)
{
    const settings_call *call = context;
    (void)again;
    build_fields(conn, call);
    if (call->settings->on_dead != NULL && call->settings->on_dead[0] == '\0') build_forget(conn, call, "on_dead");
    if (call->settings->policy != NULL) build_policy(conn, call);
}

static void on_set(size_t index, const rv_reply *reply, void *context)
{
    settings_call *call = context;
    (void)index;
    if (rv_reply_is(reply, RV_ERROR) && call->words[0] == '\0')
        rv_copy_text(call->words, sizeof(call->words), reply->text);
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
    if (status == REEVE_OK) status = rv_queue_policy_check(settings->policy, &client->error);
    if (status == REEVE_OK && settings->on_dead != NULL && settings->on_dead[0] != '\0')
        status = rv_check_type(settings->on_dead, &client->error);
    if (status != REEVE_OK) return status;
    if (settings->completed == NULL && settings->dead == NULL && settings->policy == NULL && settings->on_dead == NULL)
        return REEVE_OK;
    settings_call call = {.settings = settings, .ns = client->ns, .queue = queue};
    rv_prefix_set(&call.prefix, client->ns, queue);
    rv_buf_init(&call.policy, POLICY_MAX);
    if (settings->policy != NULL) rv_queue_policy_write(&call.policy, settings->policy);
    if (call.policy.failed)
        status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for a queue's settings");
    else
        status = rv_client_exec(client, build_settings, &call, on_set, &call, NULL);
    if (status == REEVE_OK && call.words[0] != '\0')
        status = rv_fail(&client->error, REEVE_EREDIS, "Redis answered: %s", call.words);
    rv_buf_fini(&call.policy);
    return status;
}
