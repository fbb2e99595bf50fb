/*
 * verb_watch.c - prints what happens to the tasks of a queue, or to one task until it has ended.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "args.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "each.h"
#include "json.h"
#include "new_queue.h"
#include "protocol/partition.h"
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
    if (event->id != NULL) {
        cli_handle_json(&json, queue, event->id);
    } else {
        cli_json_null(&json, "handle");
        cli_json_text(&json, "queue", queue);
        cli_json_null(&json, "id");
    }
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
    rv_buf_addf(&line, "%s  %-11s  %s%s%s", at, event->what, queue, event->id != NULL ? "/" : "",
                event->id != NULL ? event->id : "");
    add_details(&line, event);
    cli_utf8_add_safe(&safe, rv_buf_text(&line), line.length, false);
    good = !line.failed && !safe.failed;
    if (good) (void)printf("%s\n", rv_buf_text(&safe));
    rv_buf_fini(&line);
    rv_buf_fini(&safe);
    return good;
}

/* ---- watching -------------------------------------------------------------------------------------------------- */

struct watched {
    const char *name; /* as it was given */
    cli_handle handle;
    bool ended;
};

struct watching {
    cli_context *cli;
    const char *name; /* of the first argument */
    char queue[REEVE_QUEUE_MAX + 1];
    struct watched *tasks; /* all of that queue */
    size_t count;          /* of tasks; 0: all of the queue */
    int status;            /* of the last task that ended otherwise than completed */
    reeve_watch *watch;
    int64_t deadline;
    int64_t left; /* of the count */
    bool away;    /* Redis, as was said */
    bool goes_on; /* the first look has found the tasks: a later one that fails is repeated */
};

/* Whether that ends a task; *ret_status: as what. */
static bool is_end(const char *what, int *ret_status)
{
    static const struct {
        const char *what;
        int status;
    } ends[] = {{"completed", CLI_DONE},
                {"dead", CLI_DEAD},
                {"cancelled", CLI_CANCELLED},
                {"discarded", CLI_CANCELLED},
                {"deleted", CLI_REFUSED}};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        *ret_status = ends[i].status;
        if (strcmp(what, ends[i].what) == 0) return true;
    }
    *ret_status = CLI_DONE;
    return false;
}

/* A program is told why the exit status is what it is. how: "dead", "cancelled", "deleted". */
static void tell_program(const cli_context *cli, const struct watched *task, const char *how, int status)
{
    const char *code = status == CLI_CANCELLED ? "cancelled" : strcmp(how, "deleted") == 0 ? "not_found" : how;

    if (!cli->json) return;
    (void)cli_fault_say(cli, status, &(cli_fault){.code = code, .handle = task->name}, "%s is %s", task->name, how);
}

static void end_task(struct watching *watching, struct watched *task, int status)
{
    task->ended = true;
    if (status != CLI_DONE) watching->status = status;
}

static bool have_all_ended(const struct watching *watching)
{
    for (size_t i = 0; i < watching->count; i++)
        if (!watching->tasks[i].ended) return false;
    return watching->count > 0;
}

/* Redis is away, or takes no new connection. What it refuses for good is refused again. */
static bool is_outage(reeve_status status)
{
    return cli_exit_of(status) == CLI_NO_REDIS;
}

/* An outage is waited out; the user is told of it, and of its end. */
static void note_away(struct watching *watching, bool away)
{
    cli_context *cli = watching->cli;

    if (away && !watching->away) cli_note(cli, "waiting for Redis: %s", reeve_client_error(cli->client));
    if (!away && watching->away) cli_note(cli, "Redis is there again");
    watching->away = away;
}

/* Whether a task has ended already, or is not there. */
static void look(struct watching *watching, struct watched *task)
{
    const cli_context *cli = watching->cli;
    reeve_task_info *info = NULL;
    reeve_status found = reeve_show(cli->client, task->handle.queue, task->handle.id, &info);
    int status = CLI_DONE;

    if (watching->goes_on && is_outage(found)) {
        note_away(watching, true); /* it is looked at again */
    } else if (found != REEVE_OK) {
        end_task(watching, task, cli_fault_call(cli, found, &(cli_fault){.handle = task->name}));
    } else if (info->state >= REEVE_STATE_COMPLETED) {
        (void)is_end(reeve_state_name(info->state), &status);
        cli_note(cli, "%s has ended: %s", task->name, reeve_state_name(info->state));
        if (status != CLI_DONE) tell_program(cli, task, reeve_state_name(info->state), status);
        end_task(watching, task, status);
    }
    reeve_task_info_free(info);
}

/* Looks at all tasks that have not ended. Returns whether all have. */
static bool look_at_all(struct watching *watching)
{
    for (size_t i = 0; i < watching->count; i++)
        if (!watching->tasks[i].ended) look(watching, &watching->tasks[i]);
    return have_all_ended(watching);
}

static bool print(struct watching *watching, const reeve_event *event)
{
    bool well = true;

    if (watching->cli->json)
        print_json(watching->queue, event);
    else
        well = print_line(watching->queue, event);
    if (well && fflush(stdout) == 0) return true;
    watching->status = well ? CLI_REFUSED : cli_no_memory(watching->cli);
    return false;
}

static void note_end(struct watching *watching, const reeve_event *event)
{
    int status;

    if (!is_end(event->what, &status)) return;
    for (size_t i = 0; i < watching->count; i++) {
        struct watched *task = &watching->tasks[i];
        if (task->ended || strcmp(task->handle.id, event->id) != 0) continue;
        if (status != CLI_DONE) tell_program(watching->cli, task, event->what, status);
        end_task(watching, task, status);
    }
}

static bool is_watched(const struct watching *watching, const reeve_event *event)
{
    for (size_t i = 0; i < watching->count; i++)
        if (event->id != NULL && strcmp(watching->tasks[i].handle.id, event->id) == 0) return true;
    return watching->count == 0;
}

/* True when that was the last. */
static bool take(struct watching *watching, const reeve_event *event)
{
    if (!is_watched(watching, event)) return false;
    if (!print(watching, event)) return true;
    note_end(watching, event);
    if (have_all_ended(watching)) return true;
    return watching->left > 0 && --watching->left == 0;
}

static int watch_on(struct watching *watching)
{
    cli_context *cli = watching->cli;

    watching->goes_on = true;
    for (;;) {
        const reeve_event *event = NULL;
        int64_t left = watching->deadline - rv_now_ms();
        reeve_status result;

        if (left < 0) left = 0;
        result = reeve_watch_next(watching->watch, left < LOOK_MS ? left : LOOK_MS, &event);
        bool away = result != REEVE_ETIMEOUT && is_outage(result);
        if (result != REEVE_EINTERRUPTED) note_away(watching, away);
        if (result == REEVE_OK && take(watching, event)) return watching->status;
        if (result == REEVE_OK) continue;
        if (result == REEVE_EINTERRUPTED) return cli_signalled(cli, cli_stop_signal());
        if (result != REEVE_ETIMEOUT && cli_exit_of(result) != CLI_NO_REDIS)
            return cli_fail_call(cli, result, watching->name);
        if (left == 0)
            return cli_fault_say(cli, CLI_TIMED_OUT,
                                 &(cli_fault){.code = "timeout", .handle = watching->count > 0 ? watching->name : NULL},
                                 "%s: not in time", watching->name);
        if (result == REEVE_ETIMEOUT && look_at_all(watching)) return watching->status;
    }
}

static int begin(struct watching *watching, const struct watch_options *options)
{
    cli_context *cli = watching->cli;
    reeve_watch_options how = {.queue = watching->queue};
    reeve_status result;

    if (watching->count == 1) how.id = watching->tasks[0].handle.id;
    if (options->since_ms >= 0) how.since_ms = rv_wall_ms() - options->since_ms;
    result = reeve_watch_open(&watching->watch, cli->client, &how);
    if (result != REEVE_OK) return cli_fail_call(cli, result, watching->name);
    if (how.since_ms <= 0 && look_at_all(watching)) return watching->status;
    return watch_on(watching);
}

/* A queue, or tasks of one queue: a watch follows one queue. */
static int read_arguments(const cli_context *cli, struct watching *watching)
{
    cli_handle handle;

    for (size_t i = 0; i < cli->count; i++) {
        if (cli_each_read(cli, true, cli->rest[i], &handle) != CLI_DONE) return CLI_USAGE;
        if (i == 0) rv_copy_text(watching->queue, sizeof(watching->queue), handle.queue);
        if (handle.id[0] == '\0' && cli->count > 1) return cli_usage(cli, "give one queue, or tasks of one queue");
        if (!rv_partition_is_same(handle.queue, watching->queue))
            return cli_usage(cli, "%s and %s are of different queues: watch each queue by a command of its own",
                             cli->rest[0], cli->rest[i]);
        if (handle.id[0] == '\0') return CLI_DONE;
        watching->tasks[watching->count++] = (struct watched){.name = cli->rest[i], .handle = handle};
    }
    return CLI_DONE;
}

static int watch(cli_context *cli, void *pointer)
{
    const struct watch_options *options = pointer;
    struct watching watching = {.cli = cli, .name = cli->rest[0], .left = options->count};
    int status;

    watching.tasks = rv_zalloc_array(cli->count, sizeof(*watching.tasks));
    if (watching.tasks == NULL) return cli_no_memory(cli);
    status = read_arguments(cli, &watching);
    if (status == CLI_DONE) status = cli_open_known_queue(cli, watching.queue);
    if (status == CLI_DONE) {
        watching.deadline = rv_deadline(options->timeout_ms);
        cli_stop_catch(cli->client);
        status = begin(&watching, options);
        cli_stop_release();
        reeve_watch_close(watching.watch);
    }
    rv_free(watching.tasks);
    return status;
}

const cli_verb cli_verb_watch = {
    .name = "watch",
    .section = CLI_TASKS,
    .synopsis = "HANDLE...|QUEUE [--since DURATION] [--timeout DURATION] [--count N]",
    .summary = "Prints the events of tasks until they have ended, or those of all tasks of a queue",
    .options = watch_table,
    .options_size = sizeof(struct watch_options),
    .defaults = &watch_defaults,
    .min = 1,
    .max = CLI_ANY_NUMBER,
    .run = watch,
    .notes = "An event is a change of a task's state. The command prints a line for each event: time (UTC), event,\n"
             "handle, and the worker or the reason. A queue records events while a program watches it. `reeve events\n"
             "QUEUE --keep N` makes a queue also keep events, for --since. Several handles must be of one queue.\n"
             "\n"
             "Examples:\n"
             "  reeve watch default/order-17\n"
             "  reeve watch default --json | jq -c 'select(.event == \"dead\")'\n"
             "  reeve watch default --since 10m --count 100\n",
    .exits = "0 done, or the tasks are completed, 1 a task was deleted or is unknown, 2 wrong usage, 3 no Redis,\n"
             "5 a task is dead, 6 it was cancelled, 7 --timeout has passed.",
};
