#include "changes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "client/client.h"
#include "protocol/scripts.h"
#include "protocol/task_policy.h"

#define TEXT_MAX 512
#define DIGEST_MAX 65536

/* ---- reading --------------------------------------------------------------------------------------------------- */

static void build_read(rv_conn *conn, bool again, const void *context)
{
    const rv_prefix *prefix = context;

    (void)again;
    rv_cmd(conn, 3 + RV_QUEUE_FIELDS);
    rv_args(conn, "HMGET");
    rv_arg2(conn, prefix->text, prefix->length, "settings", 8);
    for (size_t i = 0; i < RV_QUEUE_FIELDS; i++) rv_args(conn, rv_queue_fields[i].name);
    rv_args(conn, "configured");
}

static bool copy(char **ret, const rv_reply *reply)
{
    if (!rv_reply_is(reply, RV_TEXT)) return true;
    *ret = rv_strndup(reply->text, reply->length);
    return *ret != NULL;
}

reeve_status host_changes_read(host_changes *ret, reeve_client *client, const char *queue)
{
    const rv_reply *reply;
    rv_prefix prefix;
    bool good = true;

    *ret = (host_changes){0};
    rv_keys_set_prefix(&prefix, client->ns, queue);
    reeve_status status = rv_client_call(client, build_read, &prefix, &reply, NULL);
    if (status != REEVE_OK) return status;
    for (size_t i = 0; i < RV_QUEUE_FIELDS && good; i++) good = copy(&ret->value[i], rv_reply_at(reply, i));
    good = good && copy(&ret->configured, rv_reply_at(reply, RV_QUEUE_FIELDS));
    return good ? REEVE_OK : rv_fail(&client->error, REEVE_ENOMEM, "no memory for a queue's settings");
}

void host_changes_fini(host_changes *changes)
{
    for (size_t i = 0; i < RV_QUEUE_FIELDS; i++) rv_free(changes->value[i]);
    rv_free(changes->configured);
    *changes = (host_changes){0};
}

/* ---- what has changed ------------------------------------------------------------------------------------------ */

/* For people, where the form in Redis is not. */
static const char *words(char ret[TEXT_MAX], const char *value, rv_queue_setting_type type)
{
    long long rate[3], ms;

    if (value == NULL)
        rv_copy_text(ret, TEXT_MAX, "not set");
    else if (type == RV_QUEUE_IS_RATE && rv_parse_numbers(value, rate, 3, NULL))
        (void)snprintf(ret, TEXT_MAX, "%lld in %lld ms, burst %lld", rate[0], rate[1], rate[2]);
    else if (type == RV_QUEUE_IS_MS && rv_parse_numbers(value, &ms, 1, NULL) && ms >= 0)
        (void)snprintf(ret, TEXT_MAX, "%lld.%03lld s", ms / 1000, ms % 1000);
    else
        rv_copy_text(ret, TEXT_MAX, value);
    return ret;
}

static bool is_same(const char *one, const char *other)
{
    return one == NULL || other == NULL ? one == other : strcmp(one, other) == 0;
}

size_t host_changes_log(const char *queue, const host_changes *before, const host_changes *after)
{
    size_t count = 0;

    for (size_t i = 0; i < RV_QUEUE_FIELDS; i++) {
        char from[TEXT_MAX], to[TEXT_MAX];

        if (is_same(before->value[i], after->value[i])) continue;
        count++;
        /* Where nothing was set nobody's value is undone. */
        rv_log(before->value[i] == NULL ? REEVE_LOG_INFO : REEVE_LOG_WARN, "program.setting",
               before->value[i] == NULL ? "the configuration sets a setting of a queue"
                                        : "the configuration changes a setting of a queue",
               "queue", queue, "setting", rv_queue_fields[i].settings, "from",
               words(from, before->value[i], rv_queue_fields[i].type), "to",
               words(to, after->value[i], rv_queue_fields[i].type), NULL);
    }
    return count;
}

/* ---- whose configuration --------------------------------------------------------------------------------------- */

static void add_rate(rv_buf *out, bool given, const reeve_rate *rate)
{
    if (given)
        rv_buf_addf(out, "%" PRId64 "/%" PRId64 ":%" PRId64 " ", rate->count, rate->period_ms, rate->burst);
    else
        rv_buf_adds(out, "- ");
}

static void add_values(rv_buf *out, const rv_queue_values *values)
{
    for (size_t i = 0; i < RV_QUEUE_SETTINGS; i++) {
        if (!values->given[i]) continue;
        rv_buf_addf(out, "%s %" PRId64 " %s ", rv_queue_settings[i].name, values->number[i],
                    values->text[i] != NULL ? values->text[i] : "");
    }
    if (values->given[RV_QUEUE_BACKOFF]) rv_task_policy_write_backoff(out, &values->backoff);
}

/* All that a configuration says of a queue, in a few digits (FNV-1a). */
static uint64_t digest_of(const rv_config_queue *q)
{
    uint64_t digest = UINT64_C(14695981039346656037);
    rv_buf out;

    rv_buf_init(&out, DIGEST_MAX);
    add_values(&out, &q->settings);
    add_rate(&out, q->has_rate, &q->rate);
    add_rate(&out, q->has_group_rate, &q->group_rate);
    for (size_t i = 0; i < out.length; i++) digest = (digest ^ (unsigned char)out.data[i]) * UINT64_C(1099511628211);
    rv_buf_fini(&out);
    return digest;
}

/* The live worker that is said to have written a configuration, "<digest> <pid> <host>", or NULL. */
static const reeve_worker_info *find_worker(const reeve_worker_info *list, size_t count, const char *configured)
{
    const char *host = strchr(configured, ' ');
    long long pid;

    if (host == NULL || !rv_parse_numbers(host, &pid, 1, &host) || *host != ' ') return NULL;
    host++;
    for (size_t i = 0; i < count; i++)
        if (list[i].pid == pid && list[i].host != NULL && strcmp(list[i].host, host) == 0) return &list[i];
    return NULL;
}

/* This process, before it has read its file again. */
static bool is_here(const reeve_worker_info *worker)
{
    char host[256] = "";

    return worker->pid == getpid() && gethostname(host, sizeof(host) - 1) == 0 && strcmp(worker->host, host) == 0;
}

static void warn_of_conflict(reeve_client *client, const char *queue, const char *configured)
{
    reeve_worker_info *list = NULL;
    size_t count = 0;

    if (reeve_workers(client, &list, &count) != REEVE_OK) return;
    const reeve_worker_info *other = find_worker(list, count, configured);
    if (other != NULL && !is_here(other)) {
        char pid[RV_NUMBER_TEXT];

        rv_log(REEVE_LOG_WARN, "program.conflict",
               "a worker that is alive has another configuration of this queue: what the last one to start says is in "
               "force",
               "queue", queue, "worker", other->name, "host", other->host, "pid",
               rv_number_text(pid, (uint64_t)other->pid), NULL);
    }
    reeve_workers_free(list, count);
}

void host_changes_queue_session(reeve_client *client, const rv_config_queue *queue, const host_changes *before)
{
    const rv_reply *reply;
    char host[256] = "", digest[24], text[320];

    if (gethostname(host, sizeof(host) - 1) != 0) return;
    (void)snprintf(digest, sizeof(digest), "%016" PRIx64 " ", digest_of(queue));
    (void)snprintf(text, sizeof(text), "%s%ld %s", digest, (long)getpid(), host);
    if (before->configured != NULL && strncmp(before->configured, digest, strlen(digest)) != 0)
        warn_of_conflict(client, queue->name, before->configured);
    rv_simple_call call = {
        .script = &rv_script_settings, .queue = queue->name, .args = {"configured", text}, .count = 2};
    (void)rv_client_script(client, &call, &reply, NULL);
}
