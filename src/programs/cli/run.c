/*
 * run.c - one task through a plugin's handler, here and now, without Redis.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "args.h"
#include "json.h"
#include "utf8.h"
#include "verbs.h"
#include "when.h"

struct run_options {
    int attempt;
    const char *plugin_dir;
};

static const cli_option run_table[] = {
    {"attempt", "N", "which attempt the handler is told it is (1)", CLI_INT, offsetof(struct run_options, attempt), 1,
     INT32_MAX, NULL},
    {"plugin-dir", "DIR", "where a bare plugin name is sought (the built-in directory)", CLI_TEXT,
     offsetof(struct run_options, plugin_dir), 0, 0, NULL},
    {0},
};
static const struct run_options run_defaults = {.attempt = 1};

static void show_progress(int percent, const char *words, void *user)
{
    const cli_context *cli = user;

    cli_say(cli, "progress %d %%%s%s", percent, words == NULL || words[0] == '\0' ? "" : ": ",
            words == NULL ? "" : words);
}

static const char *outcome_name(reeve_outcome outcome)
{
    switch (outcome) {
    case REEVE_OUTCOME_DONE:
        return "done";
    case REEVE_OUTCOME_RETRY:
        return "retry";
    case REEVE_OUTCOME_FAIL:
        return "failed";
    case REEVE_OUTCOME_SNOOZE:
        return "snoozed";
    default:
        return "none";
    }
}

static void print_json(const reeve_run_report *report)
{
    bool waits = report->outcome == REEVE_OUTCOME_RETRY || report->outcome == REEVE_OUTCOME_SNOOZE;
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "outcome", outcome_name(report->outcome));
    cli_json_maybe(&json, "delay_ms", waits ? report->delay_ms : -1);
    cli_json_text(&json, "kind", report->kind[0] == '\0' ? NULL : report->kind);
    cli_json_text(&json, "message", report->message[0] == '\0' ? NULL : report->message);
    cli_json_int(&json, "elapsed_us", report->elapsed_us);
    cli_json_bytes(&json, "result", report->result, true);
    cli_json_end(&json);
}

static void say_report(const cli_context *cli, const reeve_run_report *report)
{
    double elapsed_ms = (double)report->elapsed_us / 1000.0;
    char delay[CLI_WHEN_TEXT];

    cli_span_text(report->delay_ms, delay);
    switch (report->outcome) {
    case REEVE_OUTCOME_DONE:
        cli_say(cli, "done in %.3f ms, %zu bytes", elapsed_ms, report->result.length);
        break;
    case REEVE_OUTCOME_RETRY:
        cli_say(cli, "retry after %s (ran %.3f ms) %s: %s", delay, elapsed_ms, report->kind, report->message);
        break;
    case REEVE_OUTCOME_SNOOZE:
        cli_say(cli, "snoozed for %s (ran %.3f ms)", delay, elapsed_ms);
        break;
    default:
        cli_say(cli, "failed (ran %.3f ms) %s: %s", elapsed_ms, report->kind, report->message);
        break;
    }
}

/* As it is; on a terminal the words that follow begin on a line of their own. */
static void print_result(reeve_bytes result)
{
    if (result.length == 0) return;
    (void)fwrite(result.data, 1, result.length, stdout);
    if (isatty(STDOUT_FILENO) && ((const char *)result.data)[result.length - 1] != '\n') (void)putchar('\n');
}

static int finish(const cli_context *cli, const reeve_run_report *report)
{
    if (cli->json) {
        print_json(report);
    } else {
        print_result(report->result);
        say_report(cli, report);
    }
    return report->outcome == REEVE_OUTCOME_DONE ? CLI_DONE : CLI_REFUSED;
}

static int fail_run(const cli_context *cli, reeve_plugin_handle *plugin, reeve_status status)
{
    const reeve_plugin *about = reeve_plugin_get(plugin);

    if (status != REEVE_ENOTFOUND) return cli_fail(cli, cli_exit_of(status), "%s", reeve_status_text(status));
    cli_say(cli, "the plugin %s (%s) has no type \"%s\"; it has:", about->name, reeve_plugin_path(plugin),
            cli->rest[1]);
    for (size_t i = 0; i < about->handler_count; i++)
        cli_say(cli, "  %s%s%s", about->handlers[i].type, about->handlers[i].summary == NULL ? "" : ": ",
                about->handlers[i].summary == NULL ? "" : about->handlers[i].summary);
    return CLI_REFUSED;
}

static int run_task(cli_context *cli, reeve_plugin_handle *plugin, const struct run_options *options)
{
    reeve_run_options run = {.size = sizeof(run), .attempt = (unsigned)options->attempt, .progress = show_progress};
    reeve_run_report report;
    reeve_status result;
    rv_buf payload;
    int status = cli_read_payload(cli, &payload, cli->count > 2 ? cli->rest[2] : NULL);

    if (status == CLI_DONE) {
        run.user = cli;
        run.payload = (reeve_bytes){payload.data, payload.length};
        result = reeve_plugin_run(plugin, cli->rest[1], &run, &report);
        status = result == REEVE_OK ? finish(cli, &report) : fail_run(cli, plugin, result);
        if (result == REEVE_OK) reeve_run_report_fini(&report);
    }
    rv_buf_fini(&payload);
    return status;
}

static int run(cli_context *cli, void *pointer)
{
    const struct run_options *options = pointer;
    reeve_plugin_handle *plugin = NULL;
    char words[512] = "";
    reeve_status result = reeve_plugin_open(&plugin, cli->rest[0], options->plugin_dir, words, sizeof(words));
    int status;

    if (result != REEVE_OK)
        return cli_fail(cli, CLI_REFUSED, "%s", words[0] == '\0' ? reeve_status_text(result) : words);
    status = run_task(cli, plugin, options);
    reeve_plugin_close(plugin);
    return status;
}

const cli_verb cli_verb_run = {
    .name = "run",
    .synopsis = "PLUGIN TYPE [PAYLOAD|-|@FILE] [--attempt N] [--plugin-dir DIR]",
    .summary = "Runs a plugin's handler once, here, without Redis",
    .options = run_table,
    .options_size = sizeof(struct run_options),
    .defaults = &run_defaults,
    .least = 2,
    .most = 3,
    .run = run,
    .notes =
        "PLUGIN is a path (it has a '/') or a bare name. The result goes to standard output as it is, progress and\n"
        "outcome to standard error.\n"
        "\nExamples:\n"
        "  reeve run checksum checksum '{\"path\":\"/etc/hosts\"}'\n"
        "  reeve run ./thumbs.so resize @job.json --attempt 3\n",
    .exits = "0 the handler said done, 1 it did not, or the plugin would not load",
};
