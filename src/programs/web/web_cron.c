/*
 * web_cron.c - recurring entries: all of them with their next slots, run now, pause, resume.
 */
#include <stdio.h>

#include "cli/cron_json.h"
#include "cli/handle.h"
#include "protocol/cron_definition.h"
#include "web.h"
#include "web_redact.h"

#define QUEUE(call) ((call)->params.value[0])
#define NAME(call) ((call)->params.value[1])
#define SLOTS 5

/* The next slots of an entry that have not fired, as an array, without jitter; none if it is paused or has ended, or if
 * its zone is unknown here. */
static void write_slots(web_call *call, const reeve_cron_info *info)
{
    const reeve_cron_entry *entry = info->entry;
    int64_t slots[SLOTS], left = entry != NULL && entry->runs > 0 ? entry->runs - info->enqueued : SLOTS;
    rv_cron_rule rule;
    size_t count = 0;

    if (info->next_ms >= 0 && left > 0 && entry != NULL && rv_cron_definition_make_rule(&rule, entry) == REEVE_OK)
        count = rv_cron_definition_coming(&rule, info->next_ms, left < SLOTS ? (size_t)left : SLOTS, slots);
    (void)fputc('[', call->out);
    for (size_t i = 0; i < count; i++) (void)fprintf(call->out, "%s%lld", i > 0 ? "," : "", (long long)slots[i]);
    (void)fputc(']', call->out);
}

/* Its payload is put back, so that it is freed. */
static void print_entry(const web_call *call, reeve_cron_info *info)
{
    const web_options *options = &call->web->options;
    reeve_bytes payload = info->payload;
    rv_buf room;

    rv_buf_init(&room, SIZE_MAX);
    info->payload = web_redact_shown(&room, options->hide_payloads, options->redact, payload);
    cli_cron_json(info, call->out);
    info->payload = payload;
    rv_buf_fini(&room);
}

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
        print_entry(call, &list[i]);
    }
    (void)fputs("],\"slots\":[", call->out);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) (void)fputc(',', call->out);
        write_slots(call, &list[i]);
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
