/*
 * verb_watch.c - prints what happens to the tasks of a queue, or to one task until it has ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "base/clock.h"
#include "json.h"
#include "maintain.h"
#include "stop.h"
#include "utf8.h"
#include "verbs.h"
#include "when.h"

#define LOOK_MS 10000 /* how often to look whether the task is still there */

struct watch_options {
    int64_t since_ms;   /* ago; negative: from now on */
    int64_t timeout_ms; /* negative: no limit */
    int64_t count;      /* 0: no limit */
};

#define AT(field) offsetof(struct watch_options, field)

static const cli_option watch_table[] = {
    {"since", "DURATION", "first print the kept events of the last DURATION (default: only new events)", CLI_DURATION,
     AT(since_ms), 0, 0, NULL},
    {"timeout", "DURATION", "give up after this time (never)", CLI_DURATION, AT(timeout_ms), 0, 0, NULL},
    {"count", "N", "end after N events; 0: never (0)", CLI_COUNT, AT(count), 0, INT64_MAX, NULL},
    {0},
};
static const struct watch_options watch_defaults = {.since_ms = -1, .timeout_ms = -1};

/* ---- an event -------------------------------------------------------------------------------------------------- */

static void print_json(const char *queue, const reeve_event *event)
{
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_int(&json, "at_ms", event->at_ms);
    cli_json_text(&json, "event", event->what);
    cli_handle_json(&json, queue, event->id);
    cli_json_text(&json, "worker", event->worker);
    cli_json_text(&json, "session", event->session);
    cli_json_text(&json, "kind", event->kind);
    cli_json_text(&json, "message", event->message);
    cli_json_maybe(&json, "delay_ms", event->delay_ms);
    cli_json_maybe(&json, "due_ms", event->due_ms);
    if (strcmp(event->what, "priority") == 0)
        cli_json_int(&json, "priority", event->priority);
    else
        cli_json_null(&json, "priority");
    cli_json_maybe(&json, "percent", event->percent);
    cli_json_end(&json);
}

static void clock_text(int64_t time_ms, char ret[CLI_WHEN_TEXT])
{
    time_t seconds = (time_t)(time_ms / 1000);
    struct tm parts;

    ret[0] = '\0';
    if (gmtime_r(&seconds, &parts) == NULL) return;
    (void)snprintf(ret, CLI_WHEN_TEXT, "%02d:%02d:%02d.%03d", parts.tm_hour, parts.tm_min, parts.tm_sec,
                   (int)(time_ms % 1000));
}

/* What there is to say behind the handle. */
static void add_details(rv_buf *line, const reeve_event *event)
{
    char text[CLI_WHEN_TEXT];

    if (strcmp(event->what, "priority") == 0) rv_buf_addf(line, "  %d", event->priority);
    if (event->percent >= 0) rv_buf_addf(line, "  %d%%", event->percent);
    if (event->due_ms >= 0) {
        cli_ago_text(event->due_ms, event->at_ms, text);
        rv_buf_addf(line, "  %s", text);
    }
    if (event->delay_ms >= 0) {
        cli_span_text(event->delay_ms, text);
        rv_buf_addf(line, "  in %s", text);
    }
    if (event->worker != NULL) rv_buf_addf(line, "  by %s", event->worker);
    if (event->kind != NULL) rv_buf_addf(line, "  %s", event->kind);
    if (event->message != NULL && event->message[0] != '\0') rv_buf_addf(line, ": %s", event->message);
}

static bool print_line(const char *queue, const reeve_event *event)
{
    char at[CLI_WHEN_TEXT];
    rv_buf line, safe;
    bool good;

    clock_text(event->at_ms, at);
    rv_buf_init(&line, 8192);
    rv_buf_init(&safe, 65536);
    rv_buf_addf(&line, "%s  %-11s  %s/%s", at, event->what, queue, event->id);
    add_details(&line, event);
    cli_utf8_add_safe(&safe, rv_buf_text(&line), line.length, false);
    good = !line.failed && !safe.failed;
    if (good) (void)printf("%s\n", rv_buf_text(&safe));
    rv_buf_fini(&line);
    rv_buf_fini(&safe);
    return good;
}

/* ---- watching -------------------------------------------------------------------------------------------------- */

struct watching {
    cli_context *cli;
    const char *name;  /* as it was given */
    cli_handle handle; /* id empty: the whole queue */
    reeve_watch *watch;
    int64_t deadline;
    int64_t left; /* of the count */
    bool away;    /* Redis, as was said */
};

/* Whether that ends a task; *ret_status: as what. */
static bool is_end(const char *what, int *ret_status)
{
    static const struct {
        const char *what;
        int status;
    } ends[] = {{"completed", CLI_DONE}, {"dead", CLI_DEAD}, {"cancelled", CLI_CANCELLED}, {"deleted", CLI_REFUSED}};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        *ret_status = ends[i].status;
        if (strcmp(what, ends[i].what) == 0) return true;
    }
    *ret_status = CLI_DONE;
    return false;
}

/* A program is told why the exit status is what it is. how: "dead", "cancelled", "deleted". */
static void tell_program(const struct watching *watching, const char *how, int status)
{
    const char *code = strcmp(how, "deleted") == 0 ? "not_found" : how;

    if (!watching->cli->json) return;
    (void)cli_fault_say(watching->cli, status, &(cli_fault){.code = code, .handle = watching->name}, "%s is %s",
                        watching->name, how);
}

/* A task that has ended already, or is not there: true, and *ret_status. */
static bool look(struct watching *watching, int *ret_status)
{
    reeve_task_info *info = NULL;
    reeve_status status = reeve_show(watching->cli->client, watching->handle.queue, watching->handle.id, &info);
    bool ended = status != REEVE_OK;

    if (status != REEVE_OK) {
        *ret_status = cli_fault_call(watching->cli, status, &(cli_fault){.handle = watching->name});
    } else if (info->state >= REEVE_STATE_COMPLETED) {
        ended = true;
        (void)is_end(reeve_state_name(info->state), ret_status);
        cli_note(watching->cli, "%s has ended: %s", watching->name, reeve_state_name(info->state));
        if (*ret_status != CLI_DONE) tell_program(watching, reeve_state_name(info->state), *ret_status);
    }
    reeve_task_info_free(info);
    return ended;
}

/* True when that was the last. */
static bool take(struct watching *watching, const reeve_event *event, int *ret_status)
{
    const char *queue = watching->handle.queue;
    bool well = true;

    if (watching->cli->json)
        print_json(queue, event);
    else
        well = print_line(queue, event);
    if (!well || fflush(stdout) != 0) {
        *ret_status = well ? CLI_REFUSED : cli_no_memory(watching->cli);
        return true;
    }
    if (watching->handle.id[0] != '\0' && is_end(event->what, ret_status)) {
        if (*ret_status != CLI_DONE) tell_program(watching, event->what, *ret_status);
        return true;
    }
    *ret_status = CLI_DONE;
    return watching->left > 0 && --watching->left == 0;
}

/* An outage is waited out; the user is told of it, and of its end. */
static void note_outage(struct watching *watching, reeve_status result)
{
    cli_context *cli = watching->cli;
    bool away = result != REEVE_OK && result != REEVE_ETIMEOUT && cli_exit_of(result) == CLI_NO_REDIS;

    if (away && !watching->away) cli_note(cli, "waiting for Redis: %s", reeve_client_error(cli->client));
    if (!away && watching->away) cli_note(cli, "Redis is there again");
    watching->away = away;
}

static int watch_on(struct watching *watching)
{
    cli_context *cli = watching->cli;
    bool single = watching->handle.id[0] != '\0';
    int status = CLI_DONE;

    for (;;) {
        const reeve_event *event = NULL;
        int64_t left = watching->deadline - rv_now_ms();
        reeve_status result;

        if (left < 0) left = 0;
        result = reeve_watch_next(watching->watch, left < LOOK_MS ? left : LOOK_MS, &event);
        if (result != REEVE_EINTERRUPTED) note_outage(watching, result);
        if (result == REEVE_OK && take(watching, event, &status)) return status;
        if (result == REEVE_OK) continue;
        if (result == REEVE_EINTERRUPTED) return cli_signalled(cli, cli_stop_signal());
        if (result != REEVE_ETIMEOUT && cli_exit_of(result) != CLI_NO_REDIS)
            return cli_fail_call(cli, result, watching->name);
        if (left == 0)
            return cli_fault_say(cli, CLI_TIMED_OUT,
                                 &(cli_fault){.code = "timeout", .handle = single ? watching->name : NULL},
                                 "%s: not in time", watching->name);
        if (result == REEVE_ETIMEOUT && single && look(watching, &status)) return status;
    }
}

static int begin(struct watching *watching, const struct watch_options *options)
{
    cli_context *cli = watching->cli;
    reeve_watch_options how = {.queue = watching->handle.queue};
    reeve_status result;
    int status = CLI_DONE;

    if (watching->handle.id[0] != '\0') how.id = watching->handle.id;
    if (options->since_ms >= 0) how.since_ms = rv_wall_ms() - options->since_ms;
    result = reeve_watch_open(&watching->watch, cli->client, &how);
    if (result != REEVE_OK) return cli_fail_call(cli, result, watching->name);
    if (how.id == NULL || how.since_ms > 0 || !look(watching, &status)) status = watch_on(watching);
    return status;
}

static int watch(cli_context *cli, void *pointer)
{
    const struct watch_options *options = pointer;
    struct watching watching = {.cli = cli, .name = cli->rest[0], .left = options->count};
    int status;

    if (strchr(cli->rest[0], '/') != NULL) {
        status = cli_handle_argument(cli, &watching.handle, cli->rest[0]);
    } else {
        status = cli_queue_argument(cli, cli->rest[0]);
        if (status == CLI_DONE)
            (void)snprintf(watching.handle.queue, sizeof(watching.handle.queue), "%s", cli->rest[0]);
    }
    if (status == CLI_DONE) status = cli_open_queue(cli, watching.handle.queue);
    if (status != CLI_DONE) return status;
    watching.deadline = rv_deadline(options->timeout_ms);
    cli_stop_catch(cli->client);
    status = begin(&watching, options);
    cli_stop_release();
    reeve_watch_close(watching.watch);
    return status;
}

const cli_verb cli_verb_watch = {
    .name = "watch",
    .section = CLI_TASKS,
    .synopsis = "HANDLE|QUEUE [--since DURATION] [--timeout DURATION] [--count N]",
    .summary = "Prints the events of a task until it has ended, or those of all tasks of a queue",
    .options = watch_table,
    .options_size = sizeof(struct watch_options),
    .defaults = &watch_defaults,
    .min = 1,
    .max = 1,
    .run = watch,
    .notes = "An event is a change of a task's state. The command prints a line for each event: time (UTC), event,\n"
             "handle, and the worker or the reason. A queue records events while a program watches it. `reeve events\n"
             "QUEUE --keep N` makes a queue also keep events, for --since.\n"
             "\n"
             "Examples:\n"
             "  reeve watch default/order-17\n"
             "  reeve watch default --json | jq -c 'select(.event == \"dead\")'\n"
             "  reeve watch default --since 10m --count 100\n",
    .exits = "0 done, or the task is completed, 1 the task was deleted or is unknown, 2 wrong usage, 3 no Redis,\n"
             "5 the task is dead, 6 it was cancelled, 7 --timeout has passed.",
};
