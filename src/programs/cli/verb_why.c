/*
 * verb_why.c - the verb that says why a task, or a queue, does not run.
 */
#include <stdio.h>

#include "each.h"
#include "table.h"
#include "verbs.h"
#include "why_view.h"

#define WORDS_MAX 65536

static void print_json(const reeve_why *why)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    if (why->id != NULL) {
        cli_handle_json(&json, why->queue, why->id);
    } else {
        cli_json_null(&json, "handle");
        cli_json_text(&json, "queue", why->queue);
        cli_json_null(&json, "id");
    }
    cli_json_text(&json, "type", why->type);
    cli_json_text(&json, "state", why->state);
    cli_json_uint(&json, "workers", why->workers);
    cli_json_uint(&json, "taking", why->taking);
    cli_reasons_json(&json, "reasons", why);
    cli_json_end(&json);
}

static bool print_fields(const reeve_why *why)
{
    cli_fields fields;
    rv_buf words;
    bool printed;

    cli_fields_init(&fields);
    rv_buf_init(&words, WORDS_MAX);
    cli_why_words(&words, why);
    if (why->id != NULL)
        cli_fields_addf(&fields, "handle", "%s/%s", why->queue, why->id);
    else
        cli_fields_add(&fields, "queue", why->queue);
    cli_fields_add(&fields, "type", why->type);
    cli_fields_add(&fields, "state", why->state);
    cli_fields_add(&fields, "why", rv_buf_text(&words));
    printed = !words.failed && cli_fields_print(&fields, stdout);
    cli_fields_fini(&fields);
    rv_buf_fini(&words);
    return printed;
}

static int explain(cli_context *cli, const cli_each_item *item, const void *options)
{
    const cli_handle *handle = &item->handle;
    bool of_task = handle->id[0] != '\0', printed = true;
    reeve_why *found = NULL;
    reeve_status result = of_task ? reeve_task_why(cli->client, handle->queue, handle->id, &found)
                                  : reeve_queue_why(cli->client, handle->queue, &found);

    (void)options;
    if (result != REEVE_OK) return cli_fault_call(cli, result, &(cli_fault){.handle = of_task ? item->name : NULL});
    cli_each_separate(cli, item);
    if (cli->json)
        print_json(found);
    else
        printed = print_fields(found);
    reeve_why_free(found);
    return printed ? CLI_DONE : cli_no_memory(cli);
}

static int why(cli_context *cli, void *options)
{
    return cli_each(cli, true, explain, options);
}

const cli_verb cli_verb_why = {
    .name = "why",
    .section = CLI_TASKS,
    .synopsis = "HANDLE|QUEUE...",
    .summary = "Explains why tasks, or queues, do not run",
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = why,
    .notes =
        "Reasons are, for example: the queue is paused, by hand or for a time; the queue, or the group, type or\n"
        "limit key of the task, is at a limit; a circuit breaker is open; parents of the task have not ended; the\n"
        "task is due later; other tasks are before it; no live worker serves the queue; its workers are quiet; all\n"
        "their threads run other tasks; or none of them has a handler for the type. The most important reason\n"
        "comes first.\n"
        "\n"
        "Examples:\n"
        "  reeve why default/order-17\n"
        "  reeve why default mail/17\n"
        "  reeve why --json default/order-17 | jq -r '.reasons[].reason'\n",
    .exits = "0 explained, 1 one of them was not found",
};
