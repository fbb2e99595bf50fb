/*
 * verb_run.c - one task through a plugin's handler, here and now, without Redis.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/id.h"
#include "cli/args.h"
#include "cli/json.h"
#include "cli/task_options.h"
#include "cli/verbs.h"
#include "cli/when.h"
#include "run_isolated.h"

struct run_options {
    cli_task_options task; /* first: see task_options.h */
    const char *queue;
    int attempt;
    int crashes;
    int64_t now; /* -1: the clock is the machine's */
    const char *checkpoint;
    const char *layers;
    const char *plugin_dir;
    bool isolated;
    reeve_option_value values[CLI_TAGS_MAX]; /* for options of the plugin */
    size_t value_count;
    reeve_option_value layer_values[CLI_TAGS_MAX]; /* for those of the plugin of layers */
    size_t layer_value_count;
};

/* The handler runs without Redis. */
static const cli_option run_globals[] = {{.name = "redis"}, {.name = "redis-file"}, {.name = "ns"}, {0}};

#define AT(field) offsetof(struct run_options, field)

static int add_value(const cli_context *cli, const cli_option *option, char *value, reeve_option_value *values,
                     size_t *count)
{
    char *equals = strchr(value, '=');

    if (*count == CLI_TAGS_MAX) return cli_usage(cli, "--%s: at most %d of them", option->name, CLI_TAGS_MAX);
    if (equals == NULL || equals == value) return cli_bad_value(cli, option, value, "NAME=VALUE");
    *equals = '\0';
    values[(*count)++] = (reeve_option_value){value, equals + 1};
    return CLI_DONE;
}

static int read_value(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct run_options *options = pointer;
    return add_value(cli, option, value, options->values, &options->value_count);
}

static int read_layer_value(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct run_options *options = pointer;
    return add_value(cli, option, value, options->layer_values, &options->layer_value_count);
}

static int read_isolation(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct run_options *options = pointer;
    options->isolated = strcmp(value, "process") == 0;
    return options->isolated || strcmp(value, "thread") == 0 ? CLI_DONE
                                                             : cli_bad_value(cli, option, value, "thread or process");
}

static const cli_option run_table[] = {
    {"attempt", "N", "number of the attempt (1)", CLI_INT, AT(attempt), 1, INT32_MAX, NULL},
    {"crashes", "N", "number of earlier crashes (0)", CLI_INT, AT(crashes), 0, INT32_MAX, NULL},
    {"now", "TIME", "fixed time of the handler's clock (the machine's clock)", CLI_TIME, AT(now), 0, 0, NULL},
    {"queue", "Q", "queue of the task (local)", CLI_TEXT, AT(queue), 0, 0, NULL},
    {"id", "ID", "id of the task (a new UUIDv7)", CLI_TEXT, AT(task.spec.id), 0, 0, NULL},
    {"group", "G", "group of the task", CLI_TEXT, AT(task.spec.group), 0, 0, NULL},
    {"meta", "KEY=VALUE", "metadata of the task; may be repeated", CLI_OTHER, 0, 0, 0, cli_read_meta},
    {"attempts", "N", "number of failed attempts after which the task dies (set by the handler)", CLI_INT,
     AT(task.spec.attempts), 1, REEVE_ATTEMPTS_MAX, NULL},
    {"timeout", "DURATION", "run time limit of the attempt (set by the handler)", CLI_DURATION,
     AT(task.spec.timeout_ms), 1, 0, NULL},
    {"backoff", "SPEC", "delays between attempts (set by the handler)", CLI_OTHER, 0, 0, 0, cli_read_backoff},
    {"checkpoint", "TEXT", "checkpoint of an earlier attempt", CLI_TEXT, AT(checkpoint), 0, 0, NULL},
    {"isolation", "WHERE", "run the handler in this process (thread) or in one of its own (process)", CLI_OTHER, 0, 0,
     0, read_isolation},
    {"layers", "PLUGIN", "apply the layers of this plugin", CLI_TEXT, AT(layers), 0, 0, NULL},
    {"option", "NAME=VALUE", "value of an option of the plugin; may be repeated", CLI_OTHER, 0, 0, 0, read_value},
    {"layers-option", "NAME=VALUE", "value of an option of the plugin of --layers; may be repeated", CLI_OTHER, 0, 0, 0,
     read_layer_value},
    {"plugin-dir", "DIR",
     "directory of plugins that are given by name (REEVE_PLUGIN_DIR, else that of the installation)", CLI_TEXT,
     AT(plugin_dir), 0, 0, NULL},
    {0},
};
static const struct run_options run_defaults = {.attempt = 1, .queue = "local", .now = -1};

static void show_progress(int percent, const char *words, void *user)
{
    const cli_context *cli = user;

    cli_note(cli, "progress %d %%%s%s", percent, words == NULL || words[0] == '\0' ? "" : ": ",
             words == NULL ? "" : words);
}

static void print_progress(cli_json *json, const reeve_test_report *report)
{
    cli_json_open_array(json, "progress");
    for (size_t i = 0; i < report->progress_count; i++) {
        cli_json_open(json, NULL);
        cli_json_int(json, "percent", report->progress[i].percent);
        cli_json_text(json, "words", report->progress[i].words);
        cli_json_int(json, "at_ms", report->progress[i].at_ms);
        cli_json_close(json);
    }
    cli_json_close_array(json);
}

static void print_log(cli_json *json, const reeve_test_report *report)
{
    cli_json_open_array(json, "log");
    for (size_t i = 0; i < report->log_count; i++) {
        cli_json_open(json, NULL);
        cli_json_int(json, "at_ms", report->log[i].at_ms);
        cli_json_text(json, "text", report->log[i].text);
        cli_json_close(json);
    }
    cli_json_close_array(json);
}

static void print_pauses(cli_json *json, const reeve_test_report *report)
{
    cli_json_open_array(json, "pauses");
    for (size_t i = 0; i < report->pause_count; i++) {
        cli_json_open(json, NULL);
        cli_json_text(json, "group", report->pauses[i].group);
        cli_json_int(json, "delay_ms", report->pauses[i].delay_ms);
        cli_json_int(json, "at_ms", report->pauses[i].at_ms);
        cli_json_close(json);
    }
    cli_json_close_array(json);
}

static void print_chained(cli_json *json, const reeve_test_report *report)
{
    cli_json_open_array(json, "chained");
    for (size_t i = 0; i < report->chained_count; i++) {
        const reeve_test_chained *task = &report->chained[i];

        cli_json_open(json, NULL);
        cli_json_text(json, "handle", task->handle);
        cli_json_text(json, "type", task->type);
        cli_json_bytes(json, "payload", task->payload, true);
        cli_json_text(json, "group", task->group);
        cli_json_text(json, "unique", task->unique);
        cli_json_int(json, "priority", task->priority);
        cli_json_maybe(json, "delay_ms", task->delay_ms > 0 ? task->delay_ms : -1);
        cli_json_maybe(json, "at_ms", task->at_ms > 0 ? task->at_ms : -1);
        cli_json_close(json);
    }
    cli_json_close_array(json);
}

/* None is no data here. */
static reeve_bytes some(reeve_bytes bytes)
{
    return bytes.length > 0 ? bytes : (reeve_bytes){NULL, 0};
}

static void print_json(const reeve_test_report *report)
{
    bool waits = report->outcome == REEVE_OUTCOME_RETRY || report->outcome == REEVE_OUTCOME_SNOOZE;
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "outcome", reeve_outcome_name(report->outcome));
    cli_json_bool(&json, "dead", report->dead);
    cli_json_maybe(&json, "delay_ms", waits ? report->delay_ms : -1);
    cli_json_text(&json, "kind", report->kind[0] == '\0' ? NULL : report->kind);
    cli_json_text(&json, "message", report->message[0] == '\0' ? NULL : report->message);
    cli_json_int(&json, "elapsed_us", report->elapsed_us);
    print_progress(&json, report);
    print_log(&json, report);
    print_pauses(&json, report);
    print_chained(&json, report);
    cli_json_bytes(&json, "checkpoint", some(report->checkpoint), true);
    cli_json_bytes(&json, "result", some(report->result), true);
    cli_json_end(&json);
}

static void say_notes(const cli_context *cli, const reeve_test_report *report)
{
    char delay[CLI_WHEN_TEXT];

    for (size_t i = 0; i < report->log_count; i++) cli_note(cli, "log: %s", report->log[i].text);
    for (size_t i = 0; i < report->pause_count; i++) {
        const reeve_test_pause *pause = &report->pauses[i];

        cli_span_text(pause->delay_ms, delay);
        cli_note(cli, "paused %s%s for %s", pause->group == NULL ? "the queue" : "group ",
                 pause->group == NULL ? "" : pause->group, delay);
    }
    for (size_t i = 0; i < report->chained_count; i++)
        cli_note(cli, "chained: %s %s, %zu bytes", report->chained[i].handle, report->chained[i].type,
                 report->chained[i].payload.length);
}

static void say_report(const cli_context *cli, const reeve_test_report *report)
{
    double elapsed_ms = (double)report->elapsed_us / 1000.0;
    char delay[CLI_WHEN_TEXT];

    say_notes(cli, report);
    cli_span_text(report->delay_ms, delay);
    switch (report->outcome) {
    case REEVE_OUTCOME_DONE:
        cli_note(cli, "done in %.3f ms, %zu bytes", elapsed_ms, report->result.length);
        break;
    case REEVE_OUTCOME_RETRY:
        if (report->dead)
            cli_note(cli, "failed at its last attempt (ran %.3f ms) %s: %s", elapsed_ms, report->kind, report->message);
        else
            cli_note(cli, "retry after %s (ran %.3f ms) %s: %s", delay, elapsed_ms, report->kind, report->message);
        break;
    case REEVE_OUTCOME_SNOOZE:
        cli_note(cli, "snoozed for %s (ran %.3f ms)", delay, elapsed_ms);
        break;
    case REEVE_OUTCOME_CANCEL:
        cli_note(cli, "cancelled (ran %.3f ms)%s%s", elapsed_ms, report->message[0] == '\0' ? "" : ": ",
                 report->message);
        break;
    case REEVE_OUTCOME_DISCARD:
        cli_note(cli, "discarded (ran %.3f ms)", elapsed_ms);
        break;
    default:
        cli_note(cli, "failed (ran %.3f ms) %s: %s", elapsed_ms, report->kind, report->message);
        break;
    }
}

/* The same for a program, which has the report. */
static int say_fault(const cli_context *cli, const reeve_test_report *report)
{
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "failed"}, "%s%s%s%s%s",
                         reeve_outcome_name(report->outcome), report->kind[0] == '\0' ? "" : ": ", report->kind,
                         report->message[0] == '\0' ? "" : ": ", report->message);
}

/* As it is; on a terminal the words that follow begin on a line of their own. */
static void print_result(reeve_bytes result)
{
    if (result.length == 0) return;
    (void)fwrite(result.data, 1, result.length, stdout);
    if (isatty(STDOUT_FILENO) && ((const char *)result.data)[result.length - 1] != '\n') (void)putchar('\n');
}

static int fail_run(const cli_context *cli, reeve_plugin_handle *plugin, const reeve_test_report *report)
{
    const reeve_plugin *about = reeve_plugin_get(plugin);

    const cli_fault fault = {.code = cli_code_of(report->status)};

    if (report->status != REEVE_ENOTFOUND)
        return cli_fault_say(cli, cli_exit_of(report->status), &fault, "%s", report->message);
    (void)cli_fault_say(cli, CLI_REFUSED, &fault, "the plugin %s (%s) has no type \"%s\"; it has:", about->name,
                        reeve_plugin_path(plugin), cli->rest[1]);
    for (size_t i = 0; i < about->handler_count; i++)
        cli_note(cli, "  %s%s%s", about->handlers[i].type, about->handlers[i].summary == NULL ? "" : ": ",
                 about->handlers[i].summary == NULL ? "" : about->handlers[i].summary);
    return CLI_REFUSED;
}

static int finish(const cli_context *cli, reeve_plugin_handle *plugin, const reeve_test_report *report)
{
    if (report->status != REEVE_OK) return fail_run(cli, plugin, report);
    if (cli->json) {
        print_json(report);
        if (report->outcome != REEVE_OUTCOME_DONE) return say_fault(cli, report);
    } else {
        print_result(report->result);
        say_report(cli, report);
    }
    return report->outcome == REEVE_OUTCOME_DONE ? CLI_DONE : CLI_REFUSED;
}

/* layers: the plugin whose layers are around the handler, or NULL. */
static int run_task(cli_context *cli, reeve_plugin_handle *plugin, reeve_plugin_handle *layers,
                    const struct run_options *options, reeve_bytes payload)
{
    const reeve_plugin *around = layers == NULL ? NULL : reeve_plugin_get(layers);
    const reeve_task_spec *spec = &options->task.spec;
    char id[RV_UUID_LENGTH + 1];
    reeve_test_clock clock = {.now_ms = options->now, .real = options->now < 0};
    reeve_test_options run = {
        .size = sizeof(run),
        .type = cli->rest[1],
        .payload = payload,
        .queue = spec->queue,
        .id = spec->id,
        .group = spec->group,
        .meta = spec->meta,
        .meta_count = spec->meta_count,
        .attempt = (unsigned)options->attempt,
        .crashes = (unsigned)options->crashes,
        .attempts = spec->attempts,
        .timeout_ms = spec->timeout_ms,
        .backoff = spec->backoff,
        .clock = &clock,
        .checkpoint = reeve_test_text(options->checkpoint == NULL ? "" : options->checkpoint),
        .layers = around == NULL ? NULL : around->layers,
        .layer_count = around == NULL ? 0 : around->layer_count,
        .on_progress = show_progress,
        .user = cli,
    };
    reeve_test_report *report;
    int status;

    rv_uuid7(id);
    if (run.id == NULL) run.id = id;
    report = options->isolated ? cli_run_isolated(plugin, layers, &run) : reeve_test_run_plugin(plugin, &run);
    if (report == NULL) return cli_no_memory(cli);
    status = finish(cli, plugin, report);
    reeve_test_report_free(report);
    return status;
}

/* "x.so" without a '/': that file here, else the plugin "x" of the plugin directory. False: the name is too long. */
static bool find_object(const char *name, char *ret, size_t size)
{
    size_t length = strlen(name);
    bool is_object = strchr(name, '/') == NULL && length > 3 && strcmp(name + length - 3, ".so") == 0;
    int printed;

    if (!is_object)
        printed = snprintf(ret, size, "%s", name);
    else if (access(name, F_OK) == 0)
        printed = snprintf(ret, size, "./%s", name);
    else
        printed = snprintf(ret, size, "%.*s", (int)(length - 3), name);
    return printed >= 0 && (size_t)printed < size;
}

static int open_plugin(const cli_context *cli, reeve_plugin_handle **ret, const char *name, const char *dir,
                       const reeve_option_value *values, size_t count)
{
    char words[512] = "", found[PATH_MAX];
    reeve_status result;

    if (find_object(name, found, sizeof(found))) name = found;
    result = reeve_plugin_open_with_options(ret, name, dir, values, count, words, sizeof(words));
    if (result == REEVE_OK) return CLI_DONE;
    return cli_fault_say(cli, CLI_REFUSED, &(cli_fault){.code = "plugin"}, "%s",
                         words[0] == '\0' ? reeve_status_text(result) : words);
}

static int run(cli_context *cli, void *pointer)
{
    struct run_options *options = pointer;
    reeve_plugin_handle *plugin = NULL, *layers = NULL;
    rv_buf payload = {0};
    /* What handlers, layers and hooks write there. */
    reeve_log_set(cli->json ? reeve_log_to_json : reeve_log_to_logfmt, stderr, REEVE_LOG_INFO);
    int status = CLI_DONE;
    if (options->isolated && options->now >= 0)
        status = cli_usage(cli, "--now: the clock of a process of its own is the machine's (--isolation)");
    if (status == CLI_DONE) status = cli_task_options_finish(cli, &options->task, options->queue, cli->rest[1]);

    if (status == CLI_DONE)
        status = open_plugin(cli, &plugin, cli->rest[0], options->plugin_dir, options->values, options->value_count);
    if (status == CLI_DONE && options->layers != NULL)
        status = open_plugin(cli, &layers, options->layers, options->plugin_dir, options->layer_values,
                             options->layer_value_count);
    if (status == CLI_DONE) status = cli_read_payload(cli, &payload, cli->count > 2 ? cli->rest[2] : NULL);
    if (status == CLI_DONE)
        status = run_task(cli, plugin, layers, options, (reeve_bytes){payload.data, payload.length});
    rv_buf_fini(&payload);
    reeve_plugin_close(layers);
    reeve_plugin_close(plugin);
    return status;
}

const cli_verb cli_verb_run = {
    .name = "run",
    .section = CLI_TOOLS,
    .synopsis = "PLUGIN TYPE [PAYLOAD|-|@FILE] [--attempt N] [--meta KEY=VALUE]... [--layers PLUGIN] [--option "
                "NAME=VALUE]... [--isolation process] ...",
    .summary = "Runs a plugin's handler once, without Redis",
    .options = run_table,
    .options_size = sizeof(struct run_options),
    .defaults = &run_defaults,
    .min = 2,
    .max = 3,
    .run = run,
    .other_globals = run_globals,
    .notes =
        "If PLUGIN contains a /, it is a path. If it ends in .so, it is a file in the current directory. Otherwise\n"
        "it is the name of a plugin in the plugin directory. The result is printed to standard output without\n"
        "changes. Progress and outcome are printed to standard error. Jitter is not applied to the backoff.\n"
        "\n"
        "With --isolation process the handler runs as in a pool with isolation = \"process\": a crash of the handler\n"
        "is reported with its stack frames.\n"
        "\n"
        "--json prints one object with the members outcome (done, retry, fail, snooze, cancel, discard), dead,\n"
        "delay_ms, kind, message, elapsed_us, progress (percent, words, at_ms), log (at_ms, text), pauses (group,\n"
        "delay_ms, at_ms), chained (handle, type, payload, group, unique, priority, delay_ms, at_ms), checkpoint and\n"
        "result.\n"
        "\n"
        "Examples:\n"
        "  reeve run checksum checksum '{\"path\":\"/etc/hosts\"}'\n"
        "  reeve run ./thumbs.so resize @job.json --attempt 3 --meta customer=17\n"
        "  reeve run ./thumbs.so resize @job.json --isolation process\n"
        "  reeve run sample sleep '{\"ms\":50}' --layers timing --layers-option slow=0.01\n",
    .exits = "0 the handler returned done, 1 it did not, or the plugin could not be loaded, 2 wrong usage.",
};
