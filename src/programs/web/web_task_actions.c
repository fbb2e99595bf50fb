/*
 * web_task_actions.c - changes of one task.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "web.h"

#define QUEUE(call) ((call)->params.value[0])
#define ID(call) ((call)->params.value[1])

static void answer(web_call *call, reeve_status status)
{
    if (status == REEVE_OK)
        web_done(call);
    else
        web_refuse_status(call, status);
}

void web_run_retry(web_call *call)
{
    const char *completed = rv_http_server_query(call->http, "completed");

    answer(call, completed != NULL ? reeve_retry_completed(call->client, QUEUE(call), ID(call))
                                   : reeve_retry(call->client, QUEUE(call), ID(call)));
}

void web_run_cancel(web_call *call)
{
    const char *reason = web_body_text(call, "reason");
    bool running = false, cascade = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(call->body, "cascade"));
    reeve_status status = reeve_cancel_with_reason(call->client, QUEUE(call), ID(call), reason, cascade, &running);
    cli_json json;

    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    cli_json_begin(&json, call->out);
    cli_json_bool(&json, "done", true);
    cli_json_bool(&json, "running", running);
    cli_json_end(&json);
}

void web_run_delete(web_call *call)
{
    answer(call, reeve_delete(call->client, QUEUE(call), ID(call)));
}

void web_run_reschedule(web_call *call)
{
    const char *at = web_body_text(call, "at");
    int64_t at_ms, in_ms;

    if (at != NULL && rv_parse_time(at, &at_ms))
        answer(call, reeve_reschedule(call->client, QUEUE(call), ID(call), at_ms));
    else if (at != NULL)
        web_refuse(call, 400, "invalid", "\"at\": expected a time, as 2026-11-21T09:00:00Z");
    else if (web_body_duration(call, "in", 0, &in_ms))
        answer(call, reeve_reschedule_in(call->client, QUEUE(call), ID(call), in_ms));
}

void web_run_priority(web_call *call)
{
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(call->body, "priority");

    if (!cJSON_IsNumber(value) || value->valuedouble != value->valueint) {
        web_refuse(call, 400, "invalid", "\"priority\": expected a whole number");
        return;
    }
    answer(call, reeve_set_priority(call->client, QUEUE(call), ID(call), value->valueint));
}
