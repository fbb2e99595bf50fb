#include "upkeep/namesakes.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/json_parse.h"
#include "protocol/registry.h"

#define NAMESAKES_MAX 256

typedef struct search {
    const reeve_worker *worker;
    char (*ids)[REEVE_ID_MAX];
    size_t count;
    bool found; /* it was logged */
} search;

static const char *text_of(const cJSON *record, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(record, name));
    return text != NULL ? text : "";
}

static int64_t pid_of(const cJSON *record)
{
    const cJSON *pid = cJSON_GetObjectItemCaseSensitive(record, "pid");
    return cJSON_IsNumber(pid) && pid->valueint > 0 ? pid->valueint : 0;
}

/* A record stays for a while after the death of its process; on this host that can be seen. */
static bool is_alive(const search *s, const cJSON *record)
{
    int64_t pid = pid_of(record);
    if (pid == 0 || strcmp(text_of(record, "host"), s->worker->host) != 0) return true;
    return pid != getpid() && (kill((pid_t)pid, 0) == 0 || errno != ESRCH);
}

static void look_at(search *s, const char *id, const cJSON *record)
{
    char own[RV_NUMBER_TEXT], other[RV_NUMBER_TEXT];
    if (s->found || strcmp(text_of(record, "name"), s->worker->name) != 0) return;
    if (strcmp(text_of(record, "state"), "running") != 0 || !is_alive(s, record)) return;
    s->found = true;
    rv_log(REEVE_LOG_WARN, "worker.same_name",
           "another live worker has the same name, and requests to the name are for both: give each its own name",
           "name", s->worker->name, "host", s->worker->host, "pid", rv_number_text(own, (uint64_t)getpid()),
           "other_worker", id, "other_host", text_of(record, "host"), "other_pid",
           rv_number_text(other, (uint64_t)pid_of(record)), NULL);
}

static void on_record(size_t index, const rv_reply *reply, void *context)
{
    search *s = context;
    cJSON *record = NULL;
    if (index >= s->count || !rv_reply_is(reply, RV_TEXT)) return;
    (void)rv_json_parse(&record, reply->text, reply->length);
    if (cJSON_IsObject(record)) look_at(s, s->ids[index], record);
    cJSON_Delete(record);
}

/* False: there is none, or no answer. */
static bool read_ids(search *s, rv_conn *conn, int64_t deadline)
{
    const char *ns = s->worker->ns;
    const rv_reply *reply;
    rv_conn_discard(conn);
    rv_cmd(conn, 2);
    rv_args(conn, "SMEMBERS");
    rv_arg2(conn, ns, strlen(ns), ":workers", 8);
    if (rv_conn_call(conn, deadline, &reply) != REEVE_OK || !rv_reply_is(reply, RV_ARRAY)) return false;
    s->count = reply->count < NAMESAKES_MAX ? reply->count : NAMESAKES_MAX;
    s->ids = s->count > 0 ? rv_zalloc_array(s->count, sizeof(*s->ids)) : NULL;
    if (s->ids == NULL) return false;
    for (size_t i = 0; i < s->count; i++)
        if (rv_reply_is(reply->items[i], RV_TEXT)) rv_copy_text(s->ids[i], sizeof(s->ids[i]), reply->items[i]->text);
    return true;
}

void rv_namesakes_warn(const reeve_worker *worker, rv_conn *conn, int64_t deadline)
{
    search s = {.worker = worker};
    if (worker->is_consumer || !rv_conn_is_open(conn) || !read_ids(&s, conn, deadline)) return;
    rv_conn_discard(conn);
    for (size_t i = 0; i < s.count; i++) {
        rv_cmd(conn, 2);
        rv_args(conn, "GET");
        rv_registry_arg_key(conn, worker->ns, s.ids[i]);
    }
    (void)rv_conn_exec(conn, deadline, on_record, &s);
    rv_free(s.ids);
}
