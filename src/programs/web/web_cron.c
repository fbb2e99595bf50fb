/*
 * web_cron.c - recurring entries: all of them with their next slots, run now, pause, resume.
 */
#include <stdio.h>

#include "cli/cron_json.h"
#include "cli/handle.h"
#include "web.h"

#define QUEUE(call) ((call)->params.value[0])
#define NAME(call) ((call)->params.value[1])

void web_run_cron(web_call *call)
{
    reeve_cron_info *list = NULL;
    size_t count = 0;
    reeve_status status = reeve_cron_list(call->client, NULL, &list, &count);

    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    (void)fputs("{\"entries\":[", call->out);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) (void)fputc(',', call->out);
        cli_cron_json(&list[i], call->out);
    }
    (void)fputs("]}\n", call->out);
    reeve_cron_free(list, count);
}

void web_run_cron_run(web_call *call)
{
    char id[REEVE_ID_MAX];
    reeve_status status = reeve_cron_run(call->client, QUEUE(call), NAME(call), id);
    cli_json json;

    if (status != REEVE_OK) {
        web_refuse_status(call, status);
        return;
    }
    cli_json_begin(&json, call->out);
    cli_handle_json(&json, QUEUE(call), id);
    cli_json_end(&json);
}

static void change(web_call *call,
                   reeve_status (*change_fn)(reeve_client *client, const char *queue, const char *name, bool *changed))
{
    bool changed = false;
    reeve_status status = change_fn(call->client, QUEUE(call), NAME(call), &changed);

    if (status == REEVE_OK)
        web_done(call);
    else
        web_refuse_status(call, status);
}

void web_run_cron_pause(web_call *call)
{
    change(call, reeve_cron_pause);
}

void web_run_cron_resume(web_call *call)
{
    change(call, reeve_cron_resume);
}
