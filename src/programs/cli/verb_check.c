/*
 * verb_check.c - the verb that checks the data of queues, and repairs them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "by_queue.h"
#include "json.h"
#include "progress.h"
#include "reeve/check.h"
#include "stop.h"
#include "utf8.h"
#include "verbs.h"

struct check_options {
    bool repair;
};

static const cli_option check_table[] = {
    {"repair", NULL, "repair the findings; this may make tasks run again, or delete data that contradict other data",
     CLI_FLAG, offsetof(struct check_options, repair), 0, 0, NULL},
    {0},
};

struct check {
    cli_context *cli;
    bool repair;
    const char *queue;
    cli_progress progress;
    reeve_checked checked; /* of all queues so far */
};

static void print_json(const reeve_finding *finding)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", finding->queue);
    cli_json_text(&json, "kind", finding->kind);
    cli_json_text(&json, "subject", finding->subject);
    cli_json_text(&json, "detail", finding->detail);
    cli_json_text(&json, "text", finding->text);
    cli_json_text(&json, "why", finding->why);
    cli_json_text(&json, "repair", finding->repair);
    cli_json_bool(&json, "repaired", finding->repaired);
    cli_json_end(&json);
}

static void print_words(const reeve_finding *finding)
{
    rv_buf safe;

    rv_buf_init(&safe, 16u << 20);
    cli_utf8_add_safe(&safe, finding->text, strlen(finding->text), false);
    (void)printf("%s: queue %s: %s\n    why it matters: %s\n", finding->kind, finding->queue, rv_buf_text(&safe),
                 finding->why);
    rv_buf_fini(&safe);
    if (finding->repaired)
        (void)printf("    repaired: %s\n", finding->repair);
    else
        (void)printf("    --repair: %s\n", finding->repair);
}

static void tell(const reeve_finding *finding, void *context)
{
    struct check *check = context;

    cli_progress_clear(&check->progress);
    if (check->cli->json)
        print_json(finding);
    else
        print_words(finding);
}

static bool show_progress(uint64_t done, uint64_t total, void *context)
{
    struct check *check = context;
    char seen[CLI_COUNT_TEXT];

    if (cli_progress_begin(&check->progress, done, total)) {
        (void)fprintf(stderr, "queue %s: checked %s", check->queue, cli_count_text(done, seen));
        cli_progress_end(&check->progress);
    }
    return cli_stop_signal() == 0;
}

static int check_queue(struct check *check, const char *queue)
{
    reeve_checked checked = {0};

    check->queue = queue;
    reeve_status result = reeve_check(check->cli->client, queue, check->repair, tell, show_progress, check, &checked);
    cli_progress_clear(&check->progress);
    if (result != REEVE_OK) return cli_fail_call(check->cli, result, queue);
    if (check->cli->count > 0 && checked.elements == 0)
        cli_note(check->cli, "queue %s has no data: `reeve queues` lists those that have", queue);
    check->checked.elements += checked.elements;
    check->checked.findings += checked.findings;
    check->checked.repaired += checked.repaired;
    return cli_stop_signal() == 0 ? CLI_DONE : cli_signalled(check->cli, cli_stop_signal());
}

static int check_listed(const reeve_queue_info *queue, void *context)
{
    return check_queue(context, queue->name);
}

static int report(const struct check *check, size_t queues)
{
    char seen[CLI_COUNT_TEXT];
    uint64_t findings = check->checked.findings, repaired = check->checked.repaired;

    if (!check->cli->json)
        (void)printf("%" PRIu64 " finding%s, %" PRIu64 " repaired; queues: %zu, elements: %s\n", findings,
                     findings == 1 ? "" : "s", repaired, queues, cli_count_text(check->checked.elements, seen));
    if (findings == repaired) return CLI_DONE;
    if (check->cli->json)
        return cli_fault_say(check->cli, CLI_REFUSED, &(cli_fault){.code = "findings"}, "%" PRIu64 " findings",
                             findings - repaired);
    return CLI_REFUSED;
}

static int check(cli_context *cli, void *pointer)
{
    const struct check_options *options = pointer;
    struct check visit = {.cli = cli, .repair = options->repair};
    size_t queues = cli->count;
    int status = CLI_DONE;

    for (size_t i = 0; i < cli->count && status == CLI_DONE; i++) status = cli_queue_argument(cli, cli->rest[i]);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status != CLI_DONE) return status;
    cli_progress_init(&visit.progress, cli);
    cli_stop_catch(NULL);
    for (size_t i = 0; i < cli->count && status == CLI_DONE; i++) status = check_queue(&visit, cli->rest[i]);
    if (cli->count == 0) status = cli_each_queue(cli, check_listed, &visit, &queues);
    if (status == CLI_DONE) status = report(&visit, queues);
    cli_stop_release();
    return status;
}

const cli_verb cli_verb_check = {
    .name = "check",
    .section = CLI_SERVERS,
    .synopsis = "[--repair] [QUEUE...]",
    .summary = "Checks the data of queues while they are in use, and repairs them",
    .options = check_table,
    .options_size = sizeof(struct check_options),
    .max = CLI_ANY_NUMBER,
    .run = check,
    .notes = "The data of a queue have invariants: each task is in exactly one state, each counter is correct, and so\n"
             "on. The command checks them in small steps; workers and clients can use the queue meanwhile. For each\n"
             "violation it prints what is wrong, the consequence, and what --repair does about it. Without a QUEUE it\n"
             "checks all queues. It scans the names of all keys of the server, including those of other programs.\n"
             "\n"
             "Examples:\n"
             "  reeve check\n"
             "  reeve check --repair mail\n"
             "  reeve check --json | jq -r .kind | sort | uniq -c\n",
    .exits = "0 nothing was found, or all of it was repaired; 1 something was found",
};
