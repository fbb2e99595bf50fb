#include "client/checkup.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "protocol/scripts.h"

#define TRIPS 5
#define LAG_MAX_S 10 /* replicas report every second */

/* ---- INFO ------------------------------------------------------------------------------------------------------ */

static void read_version(rv_checkup *ret)
{
    char *end = NULL;
    long major = strtol(ret->version, &end, 10);
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    if (major < 0 || major > 9999 || minor < 0 || minor > 9999) return;
    ret->major = (int)major;
    ret->minor = (int)minor;
}

/* "ip=...,port=...,state=online,offset=...,lag=1"; Redis 8 and Valkey 8 have more fields behind it. */
static void read_replica(rv_checkup *ret, const char *value)
{
    const char *lag = strstr(value, ",lag=");
    char *end = NULL;
    long seconds = lag != NULL ? strtol(lag + strlen(",lag="), &end, 10) : 0;
    bool is_read = lag == NULL || (end != lag + strlen(",lag=") && (*end == '\0' || *end == ','));
    ret->replicas++;
    ret->replicas_behind += strstr(value, ",state=online,") == NULL || !is_read || seconds > LAG_MAX_S;
}

/* A line "name:value"; value ends with a zero byte. */
static void read_line(rv_checkup *ret, const char *name, const char *value)
{
    static const struct {
        const char *name;
        size_t at, size;
    } texts[] = {
        {"redis_version", offsetof(rv_checkup, version), sizeof(ret->version)},
        {"role", offsetof(rv_checkup, role), sizeof(ret->role)},
        {"redis_mode", offsetof(rv_checkup, mode), sizeof(ret->mode)},
        {"master_link_status", offsetof(rv_checkup, link), sizeof(ret->link)},
        {"maxmemory_policy", offsetof(rv_checkup, policy), sizeof(ret->policy)},
    };
    static const struct {
        const char *name;
        size_t at;
    } numbers[] = {{"used_memory", offsetof(rv_checkup, used_bytes)},
                   {"maxmemory", offsetof(rv_checkup, max_bytes)},
                   {"evicted_keys", offsetof(rv_checkup, evicted)}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (strcmp(name, texts[i].name) == 0) rv_copy_text((char *)ret + texts[i].at, texts[i].size, value);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        int64_t number;
        if (strcmp(name, numbers[i].name) == 0 && rv_parse_int(value, 0, INT64_MAX, &number))
            *(int64_t *)(void *)((char *)ret + numbers[i].at) = number;
    }
    if (strncmp(name, "slave", 5) == 0 && strstr(value, ",state=") != NULL) read_replica(ret, value);
    if (strcmp(name, "loading") == 0) ret->loading = strcmp(value, "1") == 0;
    if (strcmp(name, "aof_enabled") == 0) ret->aof = strcmp(value, "1") == 0;
    if (strcmp(name, "aof_last_write_status") == 0) ret->aof_failed = strcmp(value, "err") == 0;
    if (strcmp(name, "rdb_last_bgsave_status") == 0) ret->save_failed = strcmp(value, "err") == 0;
}

void rv_checkup_read_info(rv_checkup *ret, const char *text)
{
    char line[512];
    while (*text != '\0') {
        size_t length = strcspn(text, "\r\n");
        if (length < sizeof(line)) {
            memcpy(line, text, length);
            line[length] = '\0';
            char *colon = strchr(line, ':');
            if (colon != NULL) {
                *colon = '\0';
                read_line(ret, line, colon + 1);
            }
        }
        text += length;
        text += strspn(text, "\r\n");
    }
    if (ret->version[0] != '\0') read_version(ret);
}

/* ---- round trips ----------------------------------------------------------------------------------------------- */

static void build_time(rv_conn *conn, bool again, const void *context)
{
    (void)again;
    (void)context;
    rv_cmd(conn, 1);
    rv_args(conn, "TIME");
}

static int by_number(const void *a, const void *b)
{
    const int64_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* The clock is compared by the shortest of them. */
static reeve_status time_trips(reeve_client *client, rv_checkup *ret)
{
    int64_t trips[TRIPS];
    for (int i = 0; i < TRIPS; i++) {
        const rv_reply *reply;
        const int64_t wall = rv_wall_ms(), began = rv_now_us();
        reeve_status status = rv_client_call(client, build_time, NULL, &reply, NULL);
        if (status != REEVE_OK) return status;
        trips[i] = rv_now_us() - began;
        int64_t seconds = rv_reply_int(rv_reply_at(reply, 0), -1), us = rv_reply_int(rv_reply_at(reply, 1), -1);
        if (seconds < 0 || us < 0) return rv_client_odd_reply(client, "TIME");
        if (i > 0 && trips[i] >= ret->best_us) continue;
        ret->best_us = trips[i];
        ret->about_ms = trips[i] / 2000 + 1;
        ret->ahead_ms = seconds * 1000 + us / 1000 - (wall + trips[i] / 2000);
    }
    qsort(trips, TRIPS, sizeof(trips[0]), by_number);
    ret->median_us = trips[TRIPS / 2];
    return REEVE_OK;
}

/* ---- the server ------------------------------------------------------------------------------------------------ */

static void build_facts(rv_conn *conn, bool again, const void *context)
{
    (void)again;
    (void)context;
    rv_cmd(conn, 1);
    rv_args(conn, "INFO");
    rv_cmd(conn, 6);
    rv_args(conn, "CONFIG");
    rv_args(conn, "GET");
    rv_args(conn, "maxmemory-policy");
    rv_args(conn, "appendonly");
    rv_args(conn, "save");
    rv_args(conn, "appendfsync");
    rv_cmd(conn, 2);
    rv_args(conn, "ACL");
    rv_args(conn, "WHOAMI");
}

static void read_config(rv_checkup *ret, const rv_reply *name, const rv_reply *value)
{
    if (!rv_reply_is(value, RV_TEXT)) return;
    if (rv_reply_is_text(name, "maxmemory-policy")) rv_copy_text(ret->policy, sizeof(ret->policy), value->text);
    if (rv_reply_is_text(name, "appendonly")) ret->aof = strcmp(value->text, "yes") == 0;
    if (rv_reply_is_text(name, "appendfsync")) rv_copy_text(ret->fsync, sizeof(ret->fsync), value->text);
    if (!rv_reply_is_text(name, "save")) return;
    rv_copy_text(ret->save, sizeof(ret->save), value->text);
    ret->save_known = true;
}

/* A user may be denied each of these. */
static void on_fact(size_t index, const rv_reply *reply, void *context)
{
    rv_checkup *ret = context;
    if (index == 0 && rv_reply_is(reply, RV_TEXT)) rv_checkup_read_info(ret, reply->text);
    if (index == 1 && rv_reply_is(reply, RV_ARRAY)) {
        for (size_t i = 0; i + 1 < reply->count; i += 2) read_config(ret, reply->items[i], reply->items[i + 1]);
    }
    if (index == 2 && rv_reply_is(reply, RV_TEXT)) rv_copy_text(ret->user, sizeof(ret->user), reply->text);
}

reeve_status rv_checkup_take(reeve_client *client, rv_checkup *ret)
{
    *ret = (rv_checkup){.major = -1, .minor = -1, .used_bytes = -1, .max_bytes = -1, .evicted = -1, .aof = -1};
    reeve_status status = time_trips(client, ret);
    if (status != REEVE_OK) return status;
    return rv_client_exec(client, build_facts, NULL, on_fact, ret, NULL);
}

/* ---- rights ---------------------------------------------------------------------------------------------------- */

reeve_status rv_checkup_rights(reeve_client *client, const char *queue, rv_buf *ret)
{
    const rv_reply *reply;
    rv_simple_call call = {.script = &rv_script_rights, .queue = queue, .args = {client->ns}, .count = 1};
    reeve_status status = rv_client_script(client, &call, &reply, NULL);
    if (status != REEVE_OK) return status;
    if (!rv_reply_is(reply, RV_ARRAY)) return rv_client_odd_reply(client, "rights");
    for (size_t i = 0; i < reply->count; i++) {
        if (!rv_reply_is(reply->items[i], RV_TEXT)) continue;
        if (ret->length > 0) rv_buf_addc(ret, '\n');
        rv_buf_add(ret, reply->items[i]->text, reply->items[i]->length);
    }
    return ret->failed ? rv_fail(&client->error, REEVE_ENOMEM, "no memory for what is missing") : REEVE_OK;
}

/* ---- a queue --------------------------------------------------------------------------------------------------- */

typedef struct queue_call {
    reeve_client *client;
    rv_prefix prefix;
    rv_queue_checkup *ret;
    rv_error error; /* the first one */
} queue_call;

static void add_length(rv_conn *conn, const rv_prefix *prefix, const char *list)
{
    rv_cmd(conn, 2);
    rv_args(conn, "LLEN");
    rv_arg2(conn, prefix->text, prefix->length, list, strlen(list));
}

static void build_queue(rv_conn *conn, bool again, const void *context)
{
    const queue_call *call = context;
    const rv_prefix *prefix = &call->prefix;
    (void)again;
    rv_cmd_script(conn, &rv_script_overdue, 1, 0);
    rv_arg(conn, prefix->text, prefix->length);
    add_length(conn, prefix, "unread");
    add_length(conn, prefix, "outbox");
    rv_cmd(conn, 3);
    rv_args(conn, "HGET");
    rv_arg2(conn, prefix->text, prefix->length, "settings", 8);
    rv_args(conn, "unsent");
}

static void on_queue(size_t index, const rv_reply *reply, void *context)
{
    queue_call *call = context;
    rv_queue_checkup *ret = call->ret;
    if (rv_client_put_off(call->client, reply)) return;
    if (rv_reply_is(reply, RV_ERROR) && call->error.status == REEVE_OK)
        (void)rv_fail(&call->error, REEVE_EREDIS, "Redis answered: %s", reply->text);
    if (index == 0) {
        ret->now_ms = rv_reply_int(rv_reply_at(reply, 0), 0);
        ret->overdue_ms = rv_reply_int(rv_reply_at(reply, 1), -1);
        ret->expired = rv_reply_int(rv_reply_at(reply, 2), 0);
        ret->untold_ms = rv_reply_int(rv_reply_at(reply, 3), -1);
    }
    if (index == 1) ret->unread = rv_reply_int(reply, 0);
    if (index == 2) ret->outbox = rv_reply_int(reply, 0);
    if (index == 3) ret->unsent_ms = rv_reply_within(reply, 0, RV_REPLY_NUMBER_MAX, -1);
}

reeve_status rv_checkup_queue(reeve_client *client, const char *queue, rv_queue_checkup *ret)
{
    queue_call call = {.client = client, .ret = ret};
    *ret = (rv_queue_checkup){.overdue_ms = -1, .untold_ms = -1, .unsent_ms = -1};
    rv_keys_set_prefix(&call.prefix, client->ns, queue);
    reeve_status status = rv_client_exec(client, build_queue, &call, on_queue, &call, NULL);
    if (status != REEVE_OK || call.error.status == REEVE_OK) return status;
    client->error = call.error;
    return call.error.status;
}
