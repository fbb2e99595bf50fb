/*
 * client_settings.c - what holds for a queue's tasks: set, and looked at.
 */
#include <stdio.h>
#include <string.h>

#include "base/layout.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "protocol/task_policy.h"

#define POLICY_MAX 4096
#define STATS_DAYS_MAX 3650
#define BYTES_MAX INT64_C(1000000000000000) /* what scripts count is whole, with room for more */
#define DAY_MS ((int64_t)24 * 3600 * 1000)

/* ---- setting --------------------------------------------------------------------------------------------------- */

typedef struct settings_call {
    reeve_client *client;
    rv_prefix prefix;
    const char *ns;
    const char *queue;
    const reeve_queue_settings *settings;
    rv_buf policy;   /* its text; empty: none, or one that says nothing */
    char words[256]; /* of the first error */
} settings_call;

static void add_number(rv_conn *conn, const char *field, int64_t number)
{
    rv_args(conn, field);
    rv_argi(conn, number);
}

static void add_keep(rv_conn *conn, const char *age, const char *count, const reeve_keep *keep)
{
    if (keep == NULL) return;
    add_number(conn, age, keep->age_ms);
    add_number(conn, count, keep->count);
}

static bool is_above_zero(const int64_t *number)
{
    return number != NULL && *number > 0;
}

static bool is_zero(const int64_t *number)
{
    return number != NULL && *number == 0;
}

static void build_fields(rv_conn *conn, const settings_call *call)
{
    const reeve_queue_settings *settings = call->settings;
    bool on_dead = settings->on_dead != NULL && settings->on_dead[0] != '\0';
    bool bytes = is_above_zero(settings->completed_bytes), result_max = is_above_zero(settings->result_max);
    size_t fields = 2 * (size_t)(settings->completed != NULL) + 2 * (size_t)(settings->dead != NULL) + on_dead +
                    (settings->stats_days != NULL) + bytes + result_max;
    if (call->policy.length > 0) fields++;
    if (fields == 0) return;
    rv_cmd(conn, 2 + 2 * fields);
    rv_args(conn, "HSET");
    rv_arg2(conn, call->prefix.text, call->prefix.length, "settings", 8);
    add_keep(conn, "completed_age", "completed_count", settings->completed);
    add_keep(conn, "dead_age", "dead_count", settings->dead);
    if (bytes) add_number(conn, "completed_bytes", *settings->completed_bytes);
    if (result_max) add_number(conn, "result_max", *settings->result_max);
    if (on_dead) {
        rv_args(conn, "on_dead");
        rv_args(conn, settings->on_dead);
    }
    if (settings->stats_days != NULL) add_number(conn, "stats_days", *settings->stats_days);
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

/* Results are counted no more: first none comes to those that were. */
static void build_forget_bytes(rv_conn *conn, const settings_call *call)
{
    build_forget(conn, call, "completed_bytes");
    rv_cmd(conn, 2);
    rv_args(conn, "UNLINK");
    rv_arg2(conn, call->prefix.text, call->prefix.length, "result_sizes", 12);
}

/* Workers ask for some when they tend the queue, and count results then: they are told to do so now. */
static void build_due(rv_conn *conn, const settings_call *call)
{
    char word[REEVE_QUEUE_MAX + 16];
    (void)snprintf(word, sizeof(word), "due %s 0", call->queue);
    rv_cmd(conn, 3);
    rv_args(conn, "PUBLISH");
    rv_arg2(conn, call->ns, strlen(call->ns), ":control", 8);
    rv_args(conn, word);
}

static void build_settings(rv_conn *conn, bool again, const void *context)
{
    const settings_call *call = context;
    const reeve_queue_settings *settings = call->settings;
    (void)again;
    build_fields(conn, call);
    if (settings->on_dead != NULL && settings->on_dead[0] == '\0') build_forget(conn, call, "on_dead");
    if (is_zero(settings->completed_bytes)) build_forget_bytes(conn, call);
    if (is_zero(settings->result_max)) build_forget(conn, call, "result_max");
    if (settings->policy != NULL && call->policy.length == 0) build_forget(conn, call, "policy");
    if (settings->policy != NULL || settings->result_max != NULL || is_above_zero(settings->completed_bytes))
        build_due(conn, call);
}

/* The user may not send the notice: workers see the change when they look next, within a session. */
static bool is_of_notice(const rv_reply *reply)
{
    return rv_error_reply_has_code(reply, "NOPERM") &&
           (strstr(reply->text, "channel") != NULL || strstr(reply->text, "'publish'") != NULL);
}

static void on_set(size_t index, const rv_reply *reply, void *context)
{
    settings_call *call = context;
    if (index == 0) call->words[0] = '\0'; /* (what an earlier try met before its connection was lost) */
    if (is_of_notice(reply)) return;
    if (rv_client_put_off(call->client, reply)) return;
    if (rv_reply_is(reply, RV_ERROR) && call->words[0] == '\0')
        rv_copy_text(call->words, sizeof(call->words), reply->text);
}

static reeve_status check_keep(reeve_client *client, const char *what, const reeve_keep *keep)
{
    if (keep == NULL || (keep->age_ms >= -1 && keep->count >= -1)) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "keep %s: age and count are at least -1, which is no limit", what);
}

static reeve_status check_results(reeve_client *client, const reeve_queue_settings *settings)
{
    const int64_t *most = settings->result_max, *bytes = settings->completed_bytes;
    if (bytes != NULL && (*bytes < 0 || *bytes > BYTES_MAX))
        return rv_fail(&client->error, REEVE_EINVAL,
                       "keep completed: %lld bytes of results: must be from 1 to %lld, or 0 for any", (long long)*bytes,
                       (long long)BYTES_MAX);
    if (most == NULL || (*most >= 0 && *most <= REEVE_RESULT_MAX)) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL,
                   "results of %lld bytes at most: must be from 1 to %u, or 0 for no own limit", (long long)*most,
                   REEVE_RESULT_MAX);
}

static reeve_status check_days(reeve_client *client, const unsigned *days)
{
    if (days == NULL || *days <= STATS_DAYS_MAX) return REEVE_OK;
    return rv_fail(&client->error, REEVE_EINVAL, "statistics kept for %u days: at most %d", *days, STATS_DAYS_MAX);
}

static reeve_status set(reeve_client *client, const char *queue, const reeve_queue_settings *settings)
{
    reeve_status status = rv_check_queue(queue, &client->error);
    if (status == REEVE_OK) status = check_keep(client, "completed", settings->completed);
    if (status == REEVE_OK) status = check_keep(client, "dead", settings->dead);
    if (status == REEVE_OK) status = check_results(client, settings);
    if (status == REEVE_OK) status = check_days(client, settings->stats_days);
    if (status == REEVE_OK) status = rv_queue_policy_check(settings->policy, &client->error);
    if (status == REEVE_OK) status = rv_check_on_dead(settings->on_dead, &client->error);
    if (status != REEVE_OK) return status;
    if (settings->completed == NULL && settings->dead == NULL && settings->policy == NULL &&
        settings->on_dead == NULL && settings->stats_days == NULL && settings->result_max == NULL &&
        settings->completed_bytes == NULL)
        return REEVE_OK;
    settings_call call = {.client = client, .settings = settings, .ns = client->ns, .queue = queue};
    rv_prefix_set(&call.prefix, client->ns, queue);
    rv_buf_init(&call.policy, POLICY_MAX);
    if (settings->policy != NULL) rv_queue_policy_write(&call.policy, settings->policy);
    if (call.policy.failed)
        status = rv_fail(&client->error, REEVE_ENOMEM, "no memory for a queue's settings");
    else
        status = rv_client_exec(client, build_settings, &call, on_set, &call, NULL);
    if (status == REEVE_OK && call.words[0] != '\0') status = rv_client_refused(client, call.words);
    rv_buf_fini(&call.policy);
    return status;
}

reeve_status reeve_queue_set_sized(reeve_client *client, const char *queue, const reeve_queue_settings *given,
                                   size_t settings_size)
{
    reeve_queue_settings settings;
    if (client == NULL || given == NULL) return REEVE_EINVAL;
    reeve_status status = RV_LAYOUT_READ(&settings, given, settings_size, "the queue's settings", &client->error);
    return status == REEVE_OK ? set(client, queue, &settings) : status;
}

/* ---- looking --------------------------------------------------------------------------------------------------- */

/* What scripts go by where nothing was set. */
static const reeve_keep completed_default = {.age_ms = DAY_MS, .count = 10000};
static const reeve_keep dead_default = {.age_ms = 90 * DAY_MS, .count = 10000};
#define STATS_DAYS_DEFAULT 30

enum {
    COMPLETED_AGE,
    COMPLETED_COUNT,
    DEAD_AGE,
    DEAD_COUNT,
    ON_DEAD,
    POLICY,
    STATS_DAYS,
    COMPLETED_BYTES,
    RESULT_MAX,
    FIELDS
};

/* One piece of memory: what the settings point to stands behind them. */
typedef struct held_settings {
    reeve_queue_settings settings;
    reeve_keep completed;
    reeve_keep dead;
    reeve_queue_policy policy;
    reeve_backoff backoff;
    unsigned stats_days;
    int64_t result_max;
    int64_t completed_bytes;
    char on_dead[REEVE_TYPE_MAX + 1];
} held_settings;

static void build_look(rv_conn *conn, bool again, const void *context)
{
    static const char *const fields[FIELDS] = {"completed_age", "completed_count", "dead_age",
                                               "dead_count",    "on_dead",         "policy",
                                               "stats_days",    "completed_bytes", "result_max"};
    const rv_prefix *prefix = context;
    (void)again;
    rv_cmd(conn, 2 + FIELDS);
    rv_args(conn, "HMGET");
    rv_arg2(conn, prefix->text, prefix->length, "settings", 8);
    for (size_t i = 0; i < FIELDS; i++) rv_args(conn, fields[i]);
}

/* A number as it was set; -1 for what is negative, the default for what is not there or no number. */
static int64_t number_at(const rv_reply *reply, size_t index, int64_t otherwise)
{
    const rv_reply *field = rv_reply_at(reply, index);
    int64_t number;
    if (!rv_reply_is(field, RV_TEXT) || !rv_parse_int(field->text, INT64_MIN, INT64_MAX, &number)) return otherwise;
    return number < 0 ? -1 : number;
}

static void read_policy(held_settings *held, const rv_reply *field)
{
    rv_task_policy policy;
    held->settings.policy = &held->policy;
    if (!rv_reply_is(field, RV_TEXT) || !rv_policy_read(&policy, field->text, field->length)) return;
    held->policy.max_attempts = policy.max_attempts;
    held->policy.max_crashes = policy.max_crashes;
    held->policy.timeout_ms = policy.timeout_ms;
    held->policy.record_runs = policy.records_runs;
    held->backoff = policy.backoff;
    if (policy.has_backoff) held->policy.backoff = &held->backoff;
}

static void read_settings(held_settings *held, const rv_reply *reply)
{
    const rv_reply *on_dead = rv_reply_at(reply, ON_DEAD);
    int64_t days = number_at(reply, STATS_DAYS, STATS_DAYS_DEFAULT);
    held->completed.age_ms = number_at(reply, COMPLETED_AGE, completed_default.age_ms);
    held->completed.count = number_at(reply, COMPLETED_COUNT, completed_default.count);
    held->dead.age_ms = number_at(reply, DEAD_AGE, dead_default.age_ms);
    held->dead.count = number_at(reply, DEAD_COUNT, dead_default.count);
    held->stats_days = days < 0 ? 0 : days > STATS_DAYS_MAX ? STATS_DAYS_MAX : (unsigned)days;
    rv_copy_text(held->on_dead, sizeof(held->on_dead), rv_reply_is(on_dead, RV_TEXT) ? on_dead->text : "");
    read_policy(held, rv_reply_at(reply, POLICY));
    held->settings.size = sizeof(held->settings);
    held->settings.completed = &held->completed;
    held->settings.dead = &held->dead;
    held->settings.stats_days = &held->stats_days;
    held->result_max = number_at(reply, RESULT_MAX, 0);
    held->settings.result_max = &held->result_max;
    held->completed_bytes = number_at(reply, COMPLETED_BYTES, 0);
    held->settings.completed_bytes = &held->completed_bytes;
    held->settings.on_dead = held->on_dead;
}

reeve_status reeve_queue_settings_get(reeve_client *client, const char *queue, reeve_queue_settings **ret)
{
    if (client == NULL || ret == NULL) return REEVE_EINVAL;
    const rv_reply *reply;
    rv_prefix prefix;
    reeve_status status = rv_check_queue(queue, &client->error);
    if (status != REEVE_OK) return status;
    rv_prefix_set(&prefix, client->ns, queue);
    status = rv_client_call(client, build_look, &prefix, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY) || reply->count < FIELDS) return rv_client_odd_reply(client, "HMGET");
    held_settings *held = rv_zalloc(sizeof(*held));
    if (held == NULL) return rv_fail(&client->error, REEVE_ENOMEM, "no memory for a queue's settings");
    read_settings(held, reply);
    *ret = &held->settings;
    return REEVE_OK;
}

void reeve_queue_settings_free(reeve_queue_settings *settings)
{
    rv_free(settings); /* the first member of what was allocated */
}
