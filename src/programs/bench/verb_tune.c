#include "cli/verbs.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/args.h"
#include "cli/json.h"
#include "cli/stop.h"
#include "cli/table.h"
#include "reeve/plugin.h"
#include "server.h"
#include "tuning.h"

#define VALUES_MAX 64
#define TRIAL_RUNS 3
#define PATH_SIZE 4096

typedef struct tune_options {
    const char *plugin;
    const char *plugin_dir;
    const char *type;
    const char *payload;
    int max_threads; /* 0: chosen */
    int64_t window_ms;
    int64_t arrivals;
    reeve_option_value values[VALUES_MAX];
    size_t value_count;
} tune_options;

#define AT(field) offsetof(tune_options, field)

static int read_value(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    tune_options *options = pointer;
    char *equals = strchr(value, '=');

    if (options->value_count == VALUES_MAX) return cli_usage(cli, "--option: at most %d of them", VALUES_MAX);
    if (equals == NULL || equals == value) return cli_bad_value(cli, option, value, "NAME=VALUE");
    *equals = '\0';
    options->values[options->value_count++] = (reeve_option_value){value, equals + 1};
    return CLI_DONE;
}

static const cli_option tune_table[] = {
    {"plugin", "PLUGIN", "the plugin with the handler (default: that of the workers of POOL)", CLI_TEXT, AT(plugin), 0,
     0, NULL},
    {"type", "TYPE", "type of the tasks; required", CLI_TEXT, AT(type), 0, 0, NULL},
    {"payload", "PAYLOAD|-|@FILE", "payload of each task (empty)", CLI_TEXT, AT(payload), 0, 0, NULL},
    {"max-threads", "N", "highest number of threads to measure (16 for each processor, at most 64)", CLI_INT,
     AT(max_threads), 1, 1024, NULL},
    {"for", "DURATION", "longest time of a step (1s)", CLI_DURATION, AT(window_ms), 50, 3600000, NULL},
    {"arrivals", "N", "tasks per second to enqueue when waits are measured (70 % of the highest rate, at most 5000)",
     CLI_COUNT, AT(arrivals), 1, 5000, NULL},
    {"option", "NAME=VALUE", "value of an option of the plugin; may be repeated", CLI_OTHER, 0, 0, 0, read_value},
    {"plugin-dir", "DIR",
     "directory of plugins that are given by name (REEVE_PLUGIN_DIR, else that of the installation)", CLI_TEXT,
     AT(plugin_dir), 0, 0, NULL},
    {0},
};
static const tune_options tune_defaults = {.window_ms = 1000};

/* ---- the plugin ------------------------------------------------------------------------------------------------ */

static int open_plugin(const cli_context *cli, reeve_plugin_handle **ret, const char *name, const tune_options *options)
{
    char words[512];
    reeve_status status = reeve_plugin_open_with_options(ret, name, options->plugin_dir, options->values,
                                                         options->value_count, words, sizeof(words));

    return status == REEVE_OK ? CLI_DONE : cli_fail(cli, CLI_REFUSED, "%s", words);
}

static bool has_type(const reeve_plugin_handle *plugin, const char *type)
{
    const reeve_plugin *about = reeve_plugin_get(plugin);

    for (size_t i = 0; i < about->handler_count; i++)
        if (strcmp(about->handlers[i].type, type) == 0) return true;
    return false;
}

static const char *text_of(const cJSON *item, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, name));

    return text != NULL ? text : "";
}

static bool has_pool(const reeve_worker_info *worker, const char *name, int *ret_threads)
{
    cJSON *pools = cJSON_Parse(worker->pools);
    const cJSON *pool;
    bool found = false;

    cJSON_ArrayForEach(pool, pools)
    {
        if (strcmp(text_of(pool, "name"), name) != 0) continue;
        const cJSON *threads = cJSON_GetObjectItemCaseSensitive(pool, "threads");

        found = true;
        *ret_threads = cJSON_IsNumber(threads) ? threads->valueint : 0;
    }
    cJSON_Delete(pools);
    return found;
}

/* The file of the first plugin of the worker that has the type; "": none has. */
static void find_type(char ret[PATH_SIZE], const reeve_worker_info *worker, const tune_options *options)
{
    cJSON *plugins = worker->plugins != NULL ? cJSON_Parse(worker->plugins) : NULL;
    const cJSON *item;

    cJSON_ArrayForEach(item, plugins)
    {
        reeve_plugin_handle *plugin = NULL;
        const char *path = text_of(item, "path");

        if (ret[0] != '\0' || path[0] != '/' || cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(item, "ends"))) continue;
        if (reeve_plugin_open_with_options(&plugin, path, NULL, options->values, options->value_count, NULL, 0) ==
                REEVE_OK &&
            has_type(plugin, options->type))
            (void)snprintf(ret, PATH_SIZE, "%s", path);
        reeve_plugin_close(plugin);
    }
    cJSON_Delete(plugins);
}

/* Reads what the workers of the pool say of themselves. Nothing is written there. */
static int look_at_pool(cli_context *cli, const tune_options *options, char ret_path[PATH_SIZE], int *ret_threads)
{
    reeve_worker_info *list = NULL;
    size_t count = 0, pools = 0;
    int status = cli_open(cli);

    if (status != CLI_DONE) return status;
    reeve_status result = reeve_workers(cli->client, &list, &count);
    if (result != REEVE_OK) return cli_fail_call(cli, result, NULL);
    for (size_t i = 0; i < count; i++) {
        if (!has_pool(&list[i], cli->rest[0], ret_threads)) continue;
        pools++;
        if (options->plugin == NULL && ret_path[0] == '\0') find_type(ret_path, &list[i], options);
    }
    reeve_workers_free(list, count);
    if (pools == 0)
        return cli_fail(cli, CLI_REFUSED, "no live worker has a pool \"%s\"; `reeve workers --pools` lists them",
                        cli->rest[0]);
    if (options->plugin != NULL || ret_path[0] != '\0') return CLI_DONE;
    return cli_fail(cli, CLI_REFUSED,
                    "no plugin of the workers of pool \"%s\" that can be loaded here has the type \"%s\": name it with "
                    "--plugin, and its options with --option",
                    cli->rest[0], options->type);
}

/* Runs a few tasks here, one after the other: shows that it works, and how long it takes. */
static int try_handler(const cli_context *cli, reeve_plugin_handle *plugin, bench_subject *subject)
{
    subject->run_us = INT64_MAX;
    for (int i = 0; i < TRIAL_RUNS; i++) {
        const reeve_run_options run = {.size = sizeof(run), .payload = subject->payload};
        reeve_run_report report = {0};
        reeve_status status = reeve_plugin_run(plugin, subject->type, &run, &report);
        int failed = CLI_DONE;

        if (status == REEVE_OK && report.outcome != REEVE_OUTCOME_DONE)
            failed =
                cli_fail(cli, CLI_REFUSED,
                         "a first run of the handler ended with %s%s%s: tune measures tasks that "
                         "succeed; give a --payload with which they do",
                         reeve_outcome_name(report.outcome), report.message[0] != '\0' ? ": " : "", report.message);
        else if (status != REEVE_OK)
            failed = cli_fail(cli, CLI_REFUSED, "the handler cannot run: %s", reeve_status_text(status));
        if (report.elapsed_us < subject->run_us) subject->run_us = report.elapsed_us;
        if (status == REEVE_OK) reeve_run_report_fini(&report);
        if (failed != CLI_DONE) return failed;
        if (subject->run_us > subject->window_ms * 1000) break;
    }
    if (subject->run_us <= subject->window_ms * 1000) return CLI_DONE;
    return cli_fail(cli, CLI_REFUSED, "a task took %.1f s, longer than a step: give a longer --for, such as %.0fs",
                    (double)subject->run_us / 1e6, (double)subject->run_us * 5 / 1e6 + 1);
}

/* ---- the answer ------------------------------------------------------------------------------------------------ */

static const cli_column columns[] = {
    {"THREADS", true, 0, 0},  {"BATCH", true, 0, 0}, {"TASKS/S", true, 0, 0}, {"WAIT P50", true, 0, 2},
    {"WAIT P95", true, 0, 3}, {"RUN", true, 0, 4},   {"CPU", true, 0, 1},     {"UTIL", true, 0, 1},
};

static void add_row(cli_table *table, const bench_trial *step)
{
    cli_table_cellf(table, "%u", step->threads);
    cli_table_cellf(table, "%u", step->batch);
    cli_table_cellf(table, step->rate < 100 ? "%.1f" : "%.0f", step->rate);
    if (step->fell_behind) {
        cli_table_cell(table, NULL);
        cli_table_cell(table, NULL);
    } else {
        cli_table_cellf(table, "%.1f ms", step->wait_p50_ms);
        cli_table_cellf(table, "%.1f ms", step->wait_p95_ms);
    }
    cli_table_cellf(table, "%.2f ms", step->run_ms);
    cli_table_cellf(table, "%.2f", step->cpu);
    cli_table_cellf(table, "%.0f%%", 100 * step->utilisation);
}

static int print_table(const cli_context *cli, const bench_tuning *tuning, int threads)
{
    const bench_trial *best = &tuning->steps[tuning->best];
    cli_table table;

    cli_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; i < tuning->count; i++) add_row(&table, &tuning->steps[i]);
    bool printed = cli_table_print(&table, stdout);
    cli_table_fini(&table);
    if (!printed) return cli_no_memory(cli);
    (void)printf("\nWaits are those at %.0f tasks per second; without one the threads fall behind, or it was not "
                 "measured.\n%u processor%s.\n\nrecommended: threads = %u; batch = %u;\n%s\n",
                 tuning->arrivals, tuning->processors, tuning->processors == 1 ? "" : "s", best->threads, best->batch,
                 tuning->reason);
    if (threads > 0)
        (void)printf("the pool \"%s\" has %d now: `reeve threads all %s %u` changes that\n", cli->rest[0], threads,
                     cli->rest[0], best->threads);
    return CLI_DONE;
}

static void write_step(cli_json *json, const bench_trial *step)
{
    cli_json_open(json, NULL);
    cli_json_uint(json, "threads", step->threads);
    cli_json_uint(json, "batch", step->batch);
    cli_json_real(json, "tasks_per_s", step->rate);
    if (step->fell_behind) {
        cli_json_null(json, "wait_p50_ms");
        cli_json_null(json, "wait_p95_ms");
    } else {
        cli_json_real(json, "wait_p50_ms", step->wait_p50_ms);
        cli_json_real(json, "wait_p95_ms", step->wait_p95_ms);
    }
    cli_json_real(json, "run_ms", step->run_ms);
    cli_json_real(json, "processors", step->cpu);
    cli_json_real(json, "utilisation", step->utilisation);
    cli_json_close(json);
}

static void print_json(const bench_tuning *tuning, int threads)
{
    const bench_trial *best = &tuning->steps[tuning->best];
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "type", tuning->subject.type);
    cli_json_uint(&json, "processors", tuning->processors);
    cli_json_real(&json, "arrivals", tuning->arrivals);
    cli_json_open_array(&json, "steps");
    for (size_t i = 0; i < tuning->count; i++) write_step(&json, &tuning->steps[i]);
    cli_json_close_array(&json);
    cli_json_maybe(&json, "present_threads", threads > 0 ? threads : -1);
    cli_json_uint(&json, "recommended_threads", best->threads);
    cli_json_uint(&json, "recommended_batch", best->batch);
    cli_json_text(&json, "reason", tuning->reason);
    cli_json_end(&json);
}

/* ---- the verb -------------------------------------------------------------------------------------------------- */

static int measure(cli_context *cli, bench_tuning *tuning)
{
    bench_server server = {0};
    rv_error error = {0};

    if (bench_server_start(&server, &error) != REEVE_OK) return cli_fail(cli, CLI_NO_REDIS, "%s", error.text);
    tuning->subject.redis = server.url;
    cli_stop_catch(NULL);
    int status = bench_tuning_run(tuning);
    cli_stop_release();
    bench_server_stop(&server);
    return status;
}

static int with_plugin(cli_context *cli, const tune_options *options, const char *path, int threads)
{
    reeve_plugin_handle *plugin = NULL;
    rv_buf payload = {0};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    bench_tuning *tuning = rv_zalloc(sizeof(*tuning));
    int status = tuning != NULL ? cli_read_payload(cli, &payload, options->payload) : cli_no_memory(cli);

    if (status == CLI_DONE) status = open_plugin(cli, &plugin, path, options);
    if (status == CLI_DONE && !has_type(plugin, options->type))
        status = cli_fail(cli, CLI_REFUSED, "plugin %s has no handler for \"%s\"", path, options->type);
    if (status == CLI_DONE) {
        tuning->processors = processors > 0 ? (unsigned)processors : 1;
        tuning->max_threads = options->max_threads > 0       ? (unsigned)options->max_threads
                              : 16 * tuning->processors > 64 ? 64
                                                             : 16 * tuning->processors;
        tuning->arrivals = (double)options->arrivals;
        tuning->subject = (bench_subject){.cli = cli,
                                          .plugin = path,
                                          .plugin_dir = options->plugin_dir,
                                          .type = options->type,
                                          .payload = {payload.data, payload.length},
                                          .window_ms = options->window_ms};
        status = try_handler(cli, plugin, &tuning->subject);
    }
    if (status == CLI_DONE) status = measure(cli, tuning);
    if (status == CLI_DONE && cli->json) print_json(tuning, threads);
    if (status == CLI_DONE && !cli->json) status = print_table(cli, tuning, threads);
    reeve_plugin_close(plugin);
    rv_buf_fini(&payload);
    rv_free(tuning);
    return status;
}

static int tune(cli_context *cli, void *pointer)
{
    tune_options *options = pointer;
    char path[PATH_SIZE] = "";
    int threads = 0, status = CLI_DONE;

    if (options->type == NULL) return cli_usage(cli, "--type: the type of the handler is required");
    if (cli->count == 0 && options->plugin == NULL) return cli_usage(cli, "give a POOL, or a --plugin");
    if (cli->count > 0) status = look_at_pool(cli, options, path, &threads);
    if (status != CLI_DONE) return status;
    return with_plugin(cli, options, options->plugin != NULL ? options->plugin : path, threads);
}

const cli_verb cli_verb_tune = {
    .name = "tune",
    .section = CLI_TOOLS,
    .synopsis = "[POOL] --type TYPE [--plugin PLUGIN] [--payload PAYLOAD|-|@FILE] [--option NAME=VALUE]... "
                "[--max-threads N] [--for DURATION] [--arrivals N]",
    .summary = "Measures a handler with 1, 2, 4 and more threads, and recommends a number",
    .options = tune_table,
    .options_size = sizeof(tune_options),
    .defaults = &tune_defaults,
    .max = 1,
    .run = tune,
    .notes =
        "The handler really runs, thousands of times, with all its effects on files, databases and other services.\n"
        "Choose a payload and options for which these effects do no harm. The tasks are in a private redis-server,\n"
        "which is stopped at the end. With a POOL, the command reads from Redis which plugins and threads its workers\n"
        "have, and changes nothing there.\n"
        "\n"
        "Each row is a step. TASKS/S is the number of tasks per second that end while the queue is full. WAIT is the\n"
        "time from the enqueue of a task to the start of its handler, while tasks are enqueued at a constant rate,\n"
        "which the last lines print. It is omitted if the threads cannot keep up with this rate. RUN is the mean run\n"
        "time. CPU is the number of processors that the process uses. UTIL is the percentage of the time of the\n"
        "threads in which they run handlers. The number of threads doubles until the rate does not rise any more.\n"
        "\n"
        "Examples:\n"
        "  reeve tune --plugin ./thumbs.so --type resize --payload @job.json\n"
        "  reeve tune media --type resize --payload @job.json --arrivals 50\n"
        "  reeve tune --plugin sample --type sleep --payload '{\"ms\":20}' --max-threads 16 --json\n",
};
