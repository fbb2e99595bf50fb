#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/nearest.h"
#include "bench.h"
#include "cli/stop.h"
#include "server.h"
#include "workload.h"

#define NS_DEFAULT "reeve-bench"
#define HANDLER_TASKS 1000 /* of a handler whose run time nobody knows */
#define AT(field) offsetof(bench_options, field)

static const bench_kind *const kinds[] = {
    &bench_drain,  &bench_enqueue, &bench_latency,   &bench_schedule, &bench_memory, &bench_backlog,
    &bench_groups, &bench_queues,  &bench_heartbeat, &bench_mixed,    &bench_pull,   &bench_work,
    NULL};

static const cli_option bench_table[] = {
    {"tasks", "N", "number of tasks in a round (default: set by KIND)", CLI_COUNT, AT(tasks), 1, 100000000, NULL},
    {"threads", "N", "number of threads of the worker (4)", CLI_INT, AT(threads), 1, 256, NULL},
    {"batch", "N", "maximum number of tasks that a thread leases at once (128)", CLI_INT, AT(batch), 1, 256, NULL},
    {"payload", "BYTES", "size of the payload of each task (100)", CLI_COUNT, AT(payload), 0, 1048576, NULL},
    {"rounds", "N", "number of rounds over which median, minimum and maximum are computed (3)", CLI_INT, AT(rounds), 1,
     BENCH_ROUNDS_MAX, NULL},
    {"keep", NULL, "keep completed tasks until the end of the round (default: delete each task when it completes)",
     CLI_FLAG, AT(keep), 0, 0, NULL},
    {"result", "BYTES", "store a result of this size for each task, and keep completed tasks", CLI_COUNT, AT(result), 0,
     1048576, NULL},
    {"backlog", "N", "for backlog: number of waiting tasks (1000000)", CLI_COUNT, AT(backlog), 1, 1000000000, NULL},
    {"groups", "N", "for groups: number of groups (100000)", CLI_INT, AT(groups), 1, 100000000, NULL},
    {"queues", "N", "for queues: number of queues in the pool (1000)", CLI_INT, AT(queues), 1, 1000, NULL},
    {"slow", "N", "for mixed: number of slow tasks, fewer than --threads (2)", CLI_INT, AT(slow), 0, 255, NULL},
    {"slow-for", "DURATION", "for mixed: run time of a slow task (10s)", CLI_DURATION, AT(slow_ms), 1, 0, NULL},
    {"handler-ms", "N", "for work: run time of a task in milliseconds (1)", CLI_COUNT, AT(handler_ms), 1, 3600000,
     NULL},
    {"handler-us", "N", "for work: run time of a task in microseconds", CLI_COUNT, AT(handler_us), 1, 3600000000, NULL},
    {"cpu", NULL, "for work: handlers compute (default: they sleep)", CLI_FLAG, AT(cpu), 0, 0, NULL},
    {"mixed", NULL, "for work: half of the tasks compute and half sleep; one task in ten takes ten times as long",
     CLI_FLAG, AT(mixed), 0, 0, NULL},
    {"handler", "PLUGIN", "for drain: run the handler of --type of this plugin (default: tasks do nothing)", CLI_TEXT,
     AT(handler), 0, 0, NULL},
    {"type", "TYPE", "for --handler: type of the tasks", CLI_TEXT, AT(type), 0, 0, NULL},
    {"handler-payload", "PAYLOAD|-|@FILE", "for --handler: payload of each task (empty)", CLI_TEXT, AT(handler_payload),
     0, 0, NULL},
    {"force", NULL, "first delete all keys of the namespace", CLI_FLAG, AT(force), 0, 0, NULL},
    {0},
};
static const cli_option bench_globals[] = {
    {.name = "redis", .argument = "URL", .help = "URL of Redis (default: a private redis-server)"},
    {.name = "ns", .argument = "NAME", .help = "namespace of all keys (" NS_DEFAULT ")"},
    {0},
};
static const bench_options bench_defaults = {.threads = 4,
                                             .batch = 128,
                                             .payload = 100,
                                             .rounds = 3,
                                             .result = -1,
                                             .backlog = 1000000,
                                             .groups = 100000,
                                             .queues = 1000,
                                             .slow = 2,
                                             .slow_ms = 10000};

static const bench_kind *find_kind(const cli_context *cli)
{
    const char *name = cli->rest[0];
    rv_nearest nearest;

    rv_nearest_init(&nearest, name);
    for (size_t i = 0; kinds[i] != NULL; i++) {
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i];
        rv_nearest_try(&nearest, kinds[i]->name);
    }
    if (nearest.name == NULL)
        (void)cli_usage(cli, "unknown kind \"%.100s\"", name);
    else
        (void)cli_usage(cli, "unknown kind \"%.100s\"; did you mean \"%s\"?", name, nearest.name);
    return NULL;
}

/* Nothing of anybody else's may be measured, or removed in the end. */
static int queue_session_namespace(bench_run *bench)
{
    bool any;
    int status = bench_any_keys(bench, &any);

    if (status != CLI_DONE || !any) return status;
    if (bench->options->force) return bench_remove_keys(bench);
    return cli_fail(bench->cli, CLI_REFUSED,
                    "there are keys in the namespace \"%s\" of that Redis; they would be removed: say --force for "
                    "that, or choose another namespace with --ns",
                    bench->cli->ns);
}

/* ---- the answer ------------------------------------------------------------------------------------------------- */

static int print_json(const bench_run *bench, const bench_kind *kind)
{
    const bench_options *options = bench->options;
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "kind", kind->name);
    cli_json_bool(&json, "own_redis", bench->own);
    cli_json_int(&json, "rounds", options->rounds);
    cli_json_int(&json, "tasks", bench->tasks);
    cli_json_int(&json, "threads", options->threads);
    cli_json_int(&json, "batch", options->batch);
    cli_json_int(&json, "payload", options->payload);
    bench_write_figures(&bench->figures, &json);
    cli_json_end(&json);
    return CLI_DONE;
}

static int print(const bench_run *bench, const bench_kind *kind)
{
    const bench_options *options = bench->options;

    if (bench->cli->json) return print_json(bench, kind);
    (void)printf("%s: %lld tasks of %lld bytes, %d threads, batch %d, %d round%s, %s\n\n", kind->name,
                 (long long)bench->tasks, (long long)options->payload, options->threads, options->batch,
                 options->rounds, options->rounds == 1 ? "" : "s",
                 bench->own ? "a Redis of its own (unix socket, no persistence)" : "the Redis that --redis names");
    return bench_print_figures(&bench->figures, stdout) ? CLI_DONE : cli_no_memory(bench->cli);
}

/* ---- the rounds ------------------------------------------------------------------------------------------------- */

static int make_room(bench_run *bench)
{
    size_t max = (size_t)bench->options->payload;

    if (bench->options->result > bench->options->payload) max = (size_t)bench->options->result;
    bench->samples = rv_zalloc_array((size_t)bench->tasks, sizeof(double));
    bench->bytes = rv_alloc(max + 2);
    if (bench->samples == NULL || bench->bytes == NULL) return cli_no_memory(bench->cli);
    memset(bench->bytes, 'x', max + 2);
    return CLI_DONE;
}

static int run_rounds(bench_run *bench, const bench_kind *kind)
{
    int status = make_room(bench), cleaned;

    if (status == CLI_DONE) status = queue_session_namespace(bench);
    if (status != CLI_DONE) return status;
    for (int i = 0; status == CLI_DONE && i < bench->options->rounds; i++) {
        if (bench->options->rounds > 1)
            cli_note(bench->cli, "%s, round %d of %d", kind->name, i + 1, bench->options->rounds);
        status = kind->round(bench);
        cleaned = bench_remove_keys(bench);
        if (status == CLI_DONE) status = cleaned;
    }
    return status;
}

static int measure(cli_context *cli, const bench_options *options, const bench_kind *kind, bool own)
{
    bench_run *bench = rv_zalloc(sizeof(*bench));
    int status;

    if (bench == NULL) return cli_no_memory(cli);
    bench->cli = cli;
    bench->options = options;
    bench->own = own;
    bench->tasks = options->tasks;
    if (bench->tasks == 0 && options->handler != NULL) bench->tasks = HANDLER_TASKS;
    if (bench->tasks == 0) bench->tasks = kind->tasks > 0 ? kind->tasks : bench_workload_tasks(options);
    status = cli_read_payload(cli, &bench->payload, options->handler_payload);
    if (status == CLI_DONE) status = cli_open(cli);
    if (status == CLI_DONE) {
        cli_stop_catch(NULL);
        status = run_rounds(bench, kind);
        cli_stop_release();
    }
    if (status == CLI_DONE) status = print(bench, kind);
    reeve_client_close(cli->client); /* before its server goes */
    cli->client = NULL;
    rv_free(bench->samples);
    rv_free(bench->bytes);
    rv_buf_fini(&bench->payload);
    rv_free(bench);
    return status;
}

static int check_handler(const cli_context *cli, const bench_options *options, const bench_kind *kind)
{
    if (options->handler == NULL && (options->type != NULL || options->handler_payload != NULL))
        return cli_usage(cli, "--type and --handler-payload belong to --handler");
    if (options->handler == NULL) return CLI_DONE;
    if (kind != &bench_drain)
        return cli_usage(cli, "--handler is for the kind drain; `reeve tune` measures more of it");
    return options->type != NULL ? CLI_DONE : cli_usage(cli, "--handler: give the --type of its tasks");
}

static int run(cli_context *cli, void *options)
{
    const bench_kind *kind = find_kind(cli);
    bench_server server = {0};
    rv_error error = {0};
    bool own = cli->redis == NULL;
    int status;

    if (kind == NULL) return CLI_USAGE;
    status = check_handler(cli, options, kind);
    if (status != CLI_DONE) return status;
    if (cli->ns == NULL) cli->ns = NS_DEFAULT;
    if (own && bench_server_start(&server, &error) != REEVE_OK) return cli_fail(cli, CLI_NO_REDIS, "%s", error.text);
    if (own) cli->redis = server.url;
    status = measure(cli, options, kind, own);
    bench_server_stop(&server);
    return status;
}

const cli_verb cli_verb_bench = {
    .name = "bench",
    .section = CLI_TOOLS,
    .synopsis = "KIND [--tasks N] [--threads N] [--batch N] [--payload BYTES] [--rounds N] ...",
    .summary = "Measures the speed of reeve with this machine and its Redis",
    .options = bench_table,
    .options_size = sizeof(bench_options),
    .defaults = &bench_defaults,
    .min = 1,
    .max = 1,
    .run = run,
    .other_globals = bench_globals,
    .notes =
        "KIND is one of:\n"
        "  drain     throughput: tasks per second that one worker runs, if they do nothing and all are enqueued before "
        "the start\n"
        "  enqueue   tasks per second that one client enqueues: one in each call, 64 in each call, 1000 in each call\n"
        "  latency   time from the enqueue of a task to the start of its handler, on an idle worker. Figures whose "
        "names\n"
        "            begin with raw_ are the time of a blocking pop in Redis, for comparison\n"
        "  schedule  how late scheduled tasks start, on an idle worker\n"
        "  memory    bytes of Redis for each waiting task, measured by the growth of used_memory, and by MEMORY USAGE "
        "of the\n"
        "            keys of the queue. Also the memory of a worker process\n"
        "  backlog   throughput with --backlog waiting tasks, and with 10,000\n"
        "  groups    throughput of tasks in --groups groups, and of tasks without a group\n"
        "  pull      throughput of --threads consumers, which take tasks without handlers, and of a worker\n"
        "  queues    throughput of one queue, in a pool with --queues queues and in a pool with this queue only\n"
        "  heartbeat processor time that Redis spends per second on the heartbeats of one worker, with 10 running\n"
        "            tasks and with --tasks running tasks\n"
        "  mixed     time for which tasks of 1 ms wait, while other threads run --slow slow tasks\n"
        "  work      tasks per second that one worker runs, if they sleep or compute; and, for comparison, the\n"
        "            rate of the same number of threads that do the same work in a loop without Redis\n"
        "\n"
        "Without --redis, the command starts a private redis-server on a unix socket, without persistence, and stops "
        "it at\n"
        "the end; it does not use REEVE_REDIS. With --redis, it measures that Redis, in the namespace that --ns "
        "names,\n"
        "and deletes the keys of that namespace at the end. It refuses to start if the namespace has keys, unless\n"
        "--force is given.\n"
        "\n"
        "redis_us is the processor time of Redis in microseconds, divided by the number of tasks. It includes what\n"
        "Redis does for other clients. calls is the number of script calls divided by the number of tasks. commands\n"
        "is the number of all commands, within scripts too, divided by the number of tasks. --json prints one object\n"
        "with the members kind, own_redis, rounds, tasks, threads, batch, payload and figures. figures has a member\n"
        "for each measurement: an object with unit, median, min and max.\n"
        "\n"
        "Examples:\n"
        "  reeve bench drain\n"
        "  reeve bench drain --batch 1 --tasks 50000\n"
        "  reeve bench latency --redis redis://queue.example/0\n"
        "  reeve bench mixed --slow-for 2s --json\n"
        "  reeve bench work --handler-ms 1 --threads 64\n"
        "  reeve bench work --handler-us 20 --cpu\n"
        "  reeve bench drain --handler ./thumbs.so --type resize --handler-payload @job.json\n",
};
