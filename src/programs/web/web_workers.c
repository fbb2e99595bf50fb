/*
 * web_workers.c - live workers, their crashes, and what can be asked of a running worker: to be quiet, resume, stop, read
 * its configuration again, change the threads of a pool, and its stacks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/crashes_view.h"
#include "cli/worker_json.h"
#include "web.h"

#define WORKER(call) ((call)->params.value[0])
#define ANSWER_MS 5000
#define THREADS_MAX 1024

void web_run_workers(web_call *call)
{
    reeve_worker_info *list = NULL;
    size_t count = 0;
    reeve_status status = reeve_workers(call->client, &list, &count);

    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    (void)fputs("{\"workers\":[", call->out);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) (void)fputc(',', call->out);
        cli_worker_json(&list[i], call->out);
    }
    (void)fputs("]}\n", call->out);
    reeve_workers_free(list, count);
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

    *ret = number == NULL ? fallback : cJSON_IsNumber(number) ? (int)number->valuedouble : 0;
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
