/*
 * web_workers.c - live workers, their crashes, and what can be asked of a running worker: to be quiet, resume, stop, read
 * its configuration again, change the threads of a pool, and its stacks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/crashes_view.h"
#include "cli/worker_json.h"
#include "web.h"
#include "web_snapshot.h"

#define WORKER(call) ((call)->params.value[0])
#define ANSWER_MS 5000
#define THREADS_MAX 1024

/* Silent workers first, then those with the longest running task. */
static int64_t urgency(const web_snapshot *snapshot, const reeve_worker_info *worker)
{
    int64_t silent = snapshot->workers_ms - worker->seen_ms;

    return silent > WEB_SILENT_MS ? INT64_MAX / 2 + silent : worker->busy;
}

typedef struct placed {
    const reeve_worker_info *worker;
    int64_t urgency;
} placed;

static int by_urgency(const void *one, const void *other)
{
    const placed *a = one, *b = other;

    if (a->urgency != b->urgency) return a->urgency < b->urgency ? 1 : -1;
    return strcmp(a->worker->name, b->worker->name);
}

/* Workers whose name or host contains the text; NULL: all. Returns how many. */
static size_t place(const web_snapshot *snapshot, const char *text, placed *ret)
{
    size_t count = 0;

    for (size_t i = 0; i < snapshot->worker_count; i++) {
        const reeve_worker_info *worker = &snapshot->workers[i];
        if (worker->name == NULL || worker->host == NULL) continue;
        if (text != NULL && strstr(worker->name, text) == NULL && strstr(worker->host, text) == NULL) continue;
        ret[count++] = (placed){worker, urgency(snapshot, worker)};
    }
    qsort(ret, count, sizeof(*ret), by_urgency);
    return count;
}

static void write_workers(web_call *call, const web_snapshot *snapshot, const char *text, int64_t limit, int64_t offset)
{
    placed *list = rv_zalloc_array(snapshot->worker_count + 1, sizeof(*list));

    if (list == NULL) {
        web_refuse(call, 503, "busy", "no memory");
        return;
    }
    size_t count = place(snapshot, text, list);
    (void)fputs("{\"workers\":[", call->out);
    for (int64_t i = offset; i < (int64_t)count && i - offset < limit; i++) {
        if (i > offset) (void)fputc(',', call->out);
        cli_worker_json(list[i].worker, call->out);
    }
    (void)fprintf(call->out, "],\"at_ms\":%lld,\"total\":%zu}\n", (long long)snapshot->workers_ms, count);
    rv_free(list);
}

/* Of the snapshot, so that many viewers cost Redis nothing more. */
void web_run_workers(web_call *call)
{
    char text[256];
    const char *find = web_query(call, "find", text, sizeof(text));
    int64_t limit, offset;

    if (!web_query_number(call, "limit", 1, 1000, 100, &limit)) return;
    if (!web_query_number(call, "offset", 0, INT64_MAX / 2, 0, &offset)) return;
    web_snapshot *snapshot = web_snapshots_get(call->web->snapshots, WEB_ANY_AGE);
    if (snapshot == NULL)
        web_refuse(call, 503, "busy", "no memory, or the server stops");
    else if (snapshot->status != REEVE_OK)
        web_refuse_words(call, snapshot->status, snapshot->words);
    else
        write_workers(call, snapshot, find, limit, offset);
    web_snapshots_release(call->web->snapshots, snapshot);
}

void web_run_crashes(web_call *call)
{
    reeve_crash_info *list = NULL;
    size_t count = 0;
    reeve_status status = reeve_crashes(call->client, &list, &count);

    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    (void)fputs("{\"crashes\":[", call->out);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) (void)fputc(',', call->out);
        cli_crash_json(&list[i], call->out);
    }
    (void)fputs("]}\n", call->out);
    reeve_crashes_free(list, count);
}

/* ---- requests -------------------------------------------------------------------------------------------------- */

/* Asks the worker of the path. False: it was refused, or did not answer. The caller frees *ret_text. */
static bool ask(web_call *call, const char *request, char **ret_text)
{
    bool done = false;
    reeve_status status = reeve_ask_worker(call->client, WORKER(call), request, ANSWER_MS, &done, ret_text);

    if (status == REEVE_ETIMEOUT)
        web_refuse(call, 504, "timeout", "the worker has not answered within %d s; it may do it later",
                   ANSWER_MS / 1000);
    else if (status == REEVE_ENOTFOUND)
        web_refuse(call, 404, "not_found", "no worker of this id listens to requests");
    else if (status != REEVE_OK)
        web_refuse_status(call, status);
    else if (!done)
        web_refuse(call, 409, "state", "%s", *ret_text);
    if (status != REEVE_OK) return false;
    if (done) return true;
    reeve_answer_free(*ret_text);
    return false;
}

static void request(web_call *call, const char *request)
{
    char *text = NULL;
    cli_json json;

    if (!ask(call, request, &text)) return;
    cli_json_begin(&json, call->out);
    cli_json_bool(&json, "done", true);
    cli_json_text(&json, "text", text);
    cli_json_end(&json);
    reeve_answer_free(text);
}

void web_run_worker_quiet(web_call *call)
{
    request(call, "quiet");
}

void web_run_worker_resume(web_call *call)
{
    request(call, "resume");
}

void web_run_worker_stop(web_call *call)
{
    request(call, "stop");
}

void web_run_worker_reload(web_call *call)
{
    request(call, "reload");
}

/* A number of threads of the body; false: it is none. */
static bool threads_of(const web_call *call, const char *name, int fallback, int *ret)
{
    const cJSON *number = cJSON_GetObjectItemCaseSensitive(call->body, name);

    *ret = number == NULL ? fallback : cJSON_IsNumber(number) ? number->valueint : 0;
    return *ret >= 1 && *ret <= THREADS_MAX && (number == NULL || number->valuedouble == *ret);
}

void web_run_worker_threads(web_call *call)
{
    const char *pool = web_body_text(call, "pool");
    char text[256];
    int min, max;

    if (!web_is_queue(pool != NULL ? pool : "")) {
        web_refuse(call, 400, "invalid", "\"pool\": expected the name of a pool");
        return;
    }
    if (!threads_of(call, "threads", THREADS_MAX, &max) || !threads_of(call, "max", max, &max) ||
        !threads_of(call, "min", max, &min) || min > max ||
        (!cJSON_HasObjectItem(call->body, "threads") && !cJSON_HasObjectItem(call->body, "max"))) {
        web_refuse(call, 400, "invalid", "expected \"threads\", or \"min\" and \"max\", from 1 to %d", THREADS_MAX);
        return;
    }
    (void)snprintf(text, sizeof(text), "threads %s %d %d", pool, min, max);
    request(call, text);
}

/* The answer is JSON already. */
void web_run_worker_stack(web_call *call)
{
    char *text = NULL;

    if (!ask(call, "stack", &text)) return;
    (void)fprintf(call->out, "{\"stacks\":%s}\n", text);
    reeve_answer_free(text);
}
