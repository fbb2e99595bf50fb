/*
 * web_queues.c - queues: one of them, why it does not run, its failures and statistics; pause and resume.
 */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/failure_json.h"
#include "cli/queue_json.h"
#include "cli/verb_stats.h"
#include "cli/why_view.h"
#include "web.h"
#include "web_serving.h"

#define QUEUE(call) ((call)->params.value[0])

void web_run_queue(web_call *call)
{
    reeve_queue_info info;
    reeve_status status = reeve_queue(call->client, QUEUE(call), &info);

    if (status == REEVE_OK)
        cli_queue_json(&info, web_serving_count(call, QUEUE(call)), call->out);
    else
        web_refuse_status(call, status);
}

void web_run_queue_why(web_call *call)
{
    reeve_why *why = NULL;
    reeve_status status = web_serving_why(call, QUEUE(call), NULL, &why);
    cli_json json;

    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    cli_json_begin(&json, call->out);
    cli_json_text(&json, "queue", QUEUE(call));
    cli_reasons_json(&json, "why", why);
    cli_json_end(&json);
    reeve_why_free(why);
}

void web_run_pause(web_call *call)
{
    int64_t for_ms = 0;

    if (!web_body_duration(call, "for", 0, &for_ms)) return;
    reeve_status status = for_ms > 0 ? reeve_pause_for(call->client, QUEUE(call), NULL, for_ms, NULL)
                                     : reeve_pause(call->client, QUEUE(call));
    if (status == REEVE_OK)
        web_done(call);
    else
        web_refuse_status(call, status);
}

/* Ends both kinds of pauses. */
void web_run_resume(web_call *call)
{
    reeve_status status = reeve_resume(call->client, QUEUE(call));

    if (status == REEVE_OK) status = reeve_pause_for(call->client, QUEUE(call), NULL, 0, NULL);
    if (status == REEVE_OK)
        web_done(call);
    else
        web_refuse_status(call, status);
}

void web_run_failures(web_call *call)
{
    reeve_failure *list = NULL;
    size_t count = 0;
    uint64_t total = 0;
    int64_t limit, offset;

    if (!web_query_number(call, "limit", 1, 1000, 100, &limit)) return;
    if (!web_query_number(call, "offset", 0, INT64_MAX, 0, &offset)) return;
    reeve_status status =
        reeve_failures(call->client, QUEUE(call), (uint64_t)offset, (size_t)limit, &list, &count, &total);
    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    (void)fprintf(call->out, "{\"total\":%llu,\"failures\":[", (unsigned long long)total);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) (void)fputc(',', call->out);
        cli_failure_json(QUEUE(call), &list[i], call->out);
    }
    (void)fputs("]}\n", call->out);
    reeve_failures_free(list);
}

void web_run_stats(web_call *call)
{
    reeve_day *list = NULL;
    int64_t days;

    if (!web_query_number(call, "days", 1, 366, 7, &days)) return;
    reeve_status status = reeve_stats(call->client, QUEUE(call), 1 - days, (unsigned)days, &list);
    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    (void)fputs("{\"days\":[", call->out);
    for (int64_t i = 0; i < days; i++) {
        if (i > 0) (void)fputc(',', call->out);
        cli_print_stats_json(call->out, QUEUE(call), &list[i]);
    }
    (void)fputs("]}\n", call->out);
    reeve_stats_free(list, (size_t)days);
}

void web_run_minutes(web_call *call)
{
    reeve_minute *list = NULL;
    int64_t minutes;

    if (!web_query_number(call, "minutes", 1, REEVE_STATS_MINUTES_MAX, 60, &minutes)) return;
    reeve_status status = reeve_stats_minutes(call->client, QUEUE(call), (unsigned)minutes, &list);
    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    (void)fputs("{\"minutes\":[", call->out);
    for (int64_t i = 0; i < minutes; i++) {
        if (i > 0) (void)fputc(',', call->out);
        cli_minute_json(QUEUE(call), &list[i], call->out);
    }
    (void)fputs("]}\n", call->out);
    reeve_stats_minutes_free(list);
}
