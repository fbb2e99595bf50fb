/*
 * verb_lease.c - tasks are leased from a shell: for another command that settles them, or for a command that runs at
 * once.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "handle.h"
#include "lease_exec.h"
#include "lease_view.h"
#include "maintain.h"
#include "stop.h"
#include "verbs.h"

struct lease_options {
    int64_t for_ms;
    int64_t wait_ms;
    int64_t count;
    const char *command;
    const char *id;
    const char *layers;
};

#define AT(field) offsetof(struct lease_options, field)
#define FOR_MIN_MS 500

static const cli_option lease_table[] = {
    {"for", "DURATION", "how long a lease lasts without a heartbeat (30s)", CLI_DURATION, AT(for_ms), FOR_MIN_MS, 0,
     NULL},
    {"wait", "DURATION", "wait this long for a task (0s)", CLI_DURATION, AT(wait_ms), 0, 0, NULL},
    {"count", "N", "lease up to N tasks (1)", CLI_COUNT, AT(count), 1, 1000000, NULL},
    {"id", "ID", "lease this task of QUEUE, even if other tasks are before it", CLI_TEXT, AT(id), 0, 0, NULL},
    {"exec", "COMMAND", "run the command for each task, one after another, and settle it", CLI_TEXT, AT(command), 0, 0,
     NULL},
    {"layers", "PLUGIN", "pass the tasks and their outcomes through the layers of this plugin", CLI_TEXT, AT(layers), 0,
     0, NULL},
    {0},
};
static const struct lease_options lease_defaults = {.for_ms = 30000, .count = 1};

static int say_call(const cli_context *cli, const reeve_consumer *consumer, reeve_status status)
{
    if (status == REEVE_EINTERRUPTED) return cli_signalled(cli, cli_stop_signal());
    return cli_fault_say(cli, cli_exit_of(status), &(cli_fault){.code = cli_code_of(status)}, "%s",
                         reeve_consumer_error(consumer));
}

static int say_none(const cli_context *cli)
{
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "timeout"},
                         "no task of %s is ready; `reeve why %s` "
                         "explains it",
                         cli->rest[0], cli->rest[0]);
}

static int open_consumer(cli_context *cli, const char *queue, const struct lease_options *options, reeve_consumer **ret)
{
    const char *const queues[] = {queue};
    char words[512] = "";
    const reeve_consumer_options own = {.size = sizeof(own),
                                        .redis = cli->redis,
                                        .ns = cli->ns,
                                        .queues = queues,
                                        .queue_count = 1,
                                        .session_ms = options->for_ms,
                                        .size_limits = cli->size_limits};
    reeve_status status = reeve_consumer_open(ret, &own, words, sizeof(words));

    if (status == REEVE_OK) status = cli_add_consumer_layers(cli, *ret, words, sizeof(words));
    if (status == REEVE_OK) return CLI_DONE;
    (void)reeve_consumer_close(*ret);
    return cli_fault_say(cli, cli_exit_of(status), &(cli_fault){.code = cli_code_of(status)}, "%s", words);
}

/* Up to `max` tasks; with an id the task that has it. */
static reeve_status lease_some(const struct lease_options *options, const char *queue, reeve_consumer *consumer,
                               reeve_task **ret, unsigned max, unsigned *ret_count)
{
    *ret_count = 0;
    if (options->id == NULL) return reeve_consumer_lease(consumer, ret, max, options->wait_ms, ret_count);
    reeve_status status = reeve_consumer_lease_id(consumer, queue, options->id, ret);
    *ret_count = status == REEVE_OK;
    return status;
}

/* ---- leases that outlive this process -------------------------------------------------------------------------- */

/* False: the leases were not told, and go back. */
static bool print_all(const cli_context *cli, reeve_consumer *consumer, reeve_task *const *tasks, unsigned count,
                      int64_t for_ms)
{
    for (unsigned i = 0; i < count; i++) {
        if (i > 0 && !cli->json) (void)printf("\n");
        if (!cli_lease_print(cli, consumer, tasks[i], for_ms)) return false;
    }
    return cli_flush(cli);
}

static int lease_and_leave(cli_context *cli, const char *queue, const struct lease_options *options,
                           reeve_consumer *consumer)
{
    reeve_task *tasks[REEVE_CONSUMER_MAX];
    unsigned count = 0, max = options->count < REEVE_CONSUMER_MAX ? (unsigned)options->count : REEVE_CONSUMER_MAX;
    reeve_status status = lease_some(options, queue, consumer, tasks, max, &count);

    if (status != REEVE_OK || count == 0) {
        int code = status != REEVE_OK ? say_call(cli, consumer, status) : say_none(cli);
        (void)reeve_consumer_close(consumer);
        return code;
    }
    if (!print_all(cli, consumer, tasks, count, options->for_ms)) {
        (void)reeve_consumer_close(consumer);
        return CLI_REFUSED;
    }
    (void)reeve_consumer_detach(consumer);
    return CLI_DONE;
}

/* ---- a command for each ---------------------------------------------------------------------------------------- */

static int run_all(cli_context *cli, const char *queue, const struct lease_options *options, reeve_consumer *consumer)
{
    int code = CLI_DONE, worst = CLI_DONE;
    int64_t ran = 0;

    while (ran < options->count && code == CLI_DONE && cli_stop_signal() == 0) {
        bool done = false;
        reeve_task *task;
        unsigned count = 0;
        reeve_status status = lease_some(options, queue, consumer, &task, 1, &count);

        if (status != REEVE_OK) return say_call(cli, consumer, status);
        if (count == 0) break;
        ran++;
        code = cli_lease_exec(cli, consumer, task, options->command, &done);
        if (!done) worst = CLI_REFUSED;
        if (!cli_flush(cli)) return CLI_REFUSED;
    }
    if (cli_stop_signal() != 0) return cli_signalled(cli, cli_stop_signal());
    if (ran == 0) return say_none(cli);
    return code != CLI_DONE ? code : worst;
}

static void interrupt(void *consumer)
{
    reeve_consumer_interrupt(consumer);
}

static int lease(cli_context *cli, void *pointer)
{
    struct lease_options *options = pointer;
    reeve_consumer *consumer;
    cli_handle handle;
    const char *queue = cli->rest[0];

    if (options->id == NULL && strchr(queue, '/') != NULL) {
        if (cli_handle_argument(cli, &handle, queue) != CLI_DONE) return CLI_USAGE;
        queue = handle.queue;
        options->id = handle.id;
    }
    if (options->id != NULL && options->count != 1) return cli_usage(cli, "--count is not for one task");
    if (options->id != NULL && options->wait_ms != 0) return cli_usage(cli, "--wait is not for one task");
    cli->layers = options->layers;
    int status = cli_open_queue(cli, queue);

    if (status == CLI_DONE) status = open_consumer(cli, queue, options, &consumer);
    if (status != CLI_DONE) return status;
    (void)signal(SIGPIPE, SIG_IGN); /* a command need not read its input */
    cli_stop_catch_with(interrupt, consumer);
    if (options->command == NULL) {
        status = lease_and_leave(cli, queue, options, consumer);
    } else {
        status = run_all(cli, queue, options, consumer);
        (void)reeve_consumer_close(consumer);
    }
    cli_stop_release();
    return status;
}

const cli_verb cli_verb_lease = {
    .name = "lease",
    .section = CLI_TASKS,
    .synopsis = "QUEUE|HANDLE [--for DURATION] [--wait DURATION] [--count N] [--id ID] [--exec COMMAND] "
                "[--layers PLUGIN]",
    .summary = "Leases tasks, to run them in a shell",
    .options = lease_table,
    .options_size = sizeof(struct lease_options),
    .defaults = &lease_defaults,
    .min = 1,
    .max = 1,
    .run = lease,
    .notes =
        "Without --exec each task is printed with its payload and the token of its lease. The lease expires after\n"
        "the time of --for. Before that, `reeve settle` settles the task, and `reeve heartbeat` extends the lease.\n"
        "A lease that expires counts as a crash, and the task runs again. The leases of all tasks of one call\n"
        "expire together. At most 256 are leased at once.\n"
        "\n"
        "With a HANDLE, or --id, this task is leased, even if other tasks are before it. It must be ready. It is\n"
        "refused while its queue or its group is paused or at a limit, or its type is at a limit.\n"
        "\n"
        "With --exec, /bin/sh runs COMMAND for each task. The payload is its standard input. The variables\n"
        "REEVE_HANDLE, REEVE_QUEUE, REEVE_ID, REEVE_TYPE, REEVE_ATTEMPT, REEVE_CRASHES, REEVE_GROUP and REEVE_LEASE\n"
        "describe the task. Exit status 0 completes the task, and standard output is its result. Any other status\n"
        "fails the attempt with kind \"exit\"; the end of standard error is the message. The lease is renewed while\n"
        "COMMAND runs. COMMAND gets SIGTERM when the lease is lost, when the task is cancelled, and when its time\n"
        "limit has passed. If `reeve` gets SIGTERM or SIGINT, it sends SIGTERM to COMMAND and gives the task back.\n"
        "A COMMAND that still runs 10 seconds after SIGTERM gets SIGKILL. Programs that COMMAND leaves in the\n"
        "background run on, and are not waited for.\n"
        "\n"
        "With --layers, the layers of a plugin are called for each task first: a layer that encrypts payloads at the\n"
        "enqueue decrypts them here. A layer can also settle a task itself. The command neither prints nor runs\n"
        "such a task.\n"
        "\n"
        "Examples:\n"
        "  reeve lease thumbs --wait 1m --exec 'convert - -resize 200 png:-'\n"
        "  reeve lease thumbs --for 5m --json\n",
    .exits = "0 leased (with --exec: and all completed), 1 no task was ready, or one did not complete",
};
