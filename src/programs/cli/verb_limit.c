/*
 * verb_limit.c - `reeve limit`: changes limits of a queue, and pauses it for a time; limits_view.c shows them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "base/text.h"
#include "json.h"
#include "limits_view.h"
#include "maintain.h"
#include "new_queue.h"
#include "page.h"
#include "rate.h"
#include "utf8.h"
#include "verbs.h"

#define CONCURRENCY_MAX INT64_C(1000000000)

struct limit_options {
    const char *group, *type, *key;
    bool each_group;
    int64_t concurrency; /* as in reeve_limit_change */
    bool has_rate;
    reeve_rate rate;
    int64_t pause_ms; /* negative: not given */
    int strict;       /* as in reeve_limit_change */
    bool forget;
    cli_page page;
};

/* ---- options --------------------------------------------------------------------------------------------------- */

static int read_concurrency(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct limit_options *options = pointer;

    options->concurrency = -1;
    if (strcmp(value, "none") == 0 || rv_parse_int(value, 1, CONCURRENCY_MAX, &options->concurrency)) return CLI_DONE;
    return cli_bad_value(cli, option, value, "a whole number from 1 to 1000000000, or none");
}

static int read_strict(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct limit_options *options = pointer;

    options->strict = strcmp(value, "yes") == 0 ? 1 : -1;
    if (options->strict == 1 || strcmp(value, "no") == 0) return CLI_DONE;
    return cli_bad_value(cli, option, value, "yes or no");
}

static int read_rate(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct limit_options *options = pointer;

    options->has_rate = true;
    options->rate = (reeve_rate){0};
    if (strcmp(value, "none") == 0 || cli_rate_parse(value, &options->rate)) return CLI_DONE;
    return cli_bad_value(cli, option, value, CLI_RATE_EXPECTED ", or none");
}

static int read_pause_for(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct limit_options *options = pointer;

    options->pause_ms = 0;
    if (strcmp(value, "none") == 0 || rv_parse_duration(value, &options->pause_ms)) return CLI_DONE;
    return cli_bad_value(cli, option, value, "a duration " RV_DURATION_EXAMPLES ", or none to end a pause");
}

#define AT(field) offsetof(struct limit_options, field)

static const cli_option limit_table[] = {
    {"group", "G", "set limits of this group, not of the queue", CLI_TEXT, AT(group), 0, 0, NULL},
    {"each-group", NULL,
     "set default limits of all groups; a limit that is set with --group overrides the default for that group",
     CLI_FLAG, AT(each_group), 0, 0, NULL},
    {"type", "TYPE", "set limits of all tasks of this type, not of the queue", CLI_TEXT, AT(type), 0, 0, NULL},
    {"key", "KEY", "set limits of all tasks with this limit key, not of the queue", CLI_TEXT, AT(key), 0, 0, NULL},
    {"concurrency", "N|none", "maximum number of tasks that run at the same time", CLI_OTHER, 0, 0, 0,
     read_concurrency},
    {"rate", "RATE|none", "maximum number of tasks that start in a period: COUNT/PERIOD[:BURST]", CLI_OTHER, 0, 0, 0,
     read_rate},
    {"strict", "yes|no", "yes: a group starts no task until the task that it started last has ended", CLI_OTHER, 0, 0,
     0, read_strict},
    {"pause-for", "DURATION|none", "start no task for this time from now; none: end the pause", CLI_OTHER, 0, 0, 0,
     read_pause_for},
    {"forget", NULL, "remove the limits of the group, type or key; those of --each-group apply to the group again",
     CLI_FLAG, AT(forget), 0, 0, NULL},
    CLI_PAGE_LIMIT_AS(AT(page), "without a change: print at most N groups, types and keys; 0: all (50)"),
    CLI_PAGE_OFFSET(AT(page)),
    {0},
};
static const struct limit_options limit_defaults = {.pause_ms = -1, .page = CLI_PAGE_DEFAULT};

static bool changes_limits(const struct limit_options *options)
{
    return options->concurrency != 0 || options->has_rate || options->strict != 0 || options->forget;
}

static bool changes(const struct limit_options *options)
{
    return changes_limits(options) || options->pause_ms >= 0;
}

static int check_name(const cli_context *cli, const char *option, const char *name, size_t max)
{
    if (name == NULL) return CLI_DONE;
    if (name[0] != '\0' && strlen(name) <= max && cli_utf8_valid(name, strlen(name))) return CLI_DONE;
    return cli_usage(cli, "--%s \"%.200s\": expected 1 to %zu bytes of UTF-8", option, name, max);
}

/* One type or one limit key: it has neither an order nor pauses. */
static bool is_virtual(const struct limit_options *options)
{
    return options->type != NULL || options->key != NULL;
}

static const char *whose_of(const struct limit_options *options)
{
    return options->group != NULL  ? "group"
           : options->type != NULL ? "type"
           : options->key != NULL  ? "key"
           : options->each_group   ? "each-group"
                                   : NULL;
}

static int check(const cli_context *cli, const struct limit_options *options)
{
    const char *whose = whose_of(options);

    if ((options->group != NULL) + (options->type != NULL) + (options->key != NULL) + options->each_group > 1)
        return cli_usage(cli, "--group, --type, --key and --each-group: give one of them");
    if (is_virtual(options) && (options->strict != 0 || options->pause_ms >= 0))
        return cli_usage(cli, "--%s goes with --concurrency, --rate or --forget", whose);
    if (options->forget && options->group == NULL && !is_virtual(options))
        return cli_usage(cli, "--forget goes with --group G, --type TYPE or --key KEY");
    if (options->forget && (options->concurrency != 0 || options->has_rate || options->strict != 0))
        return cli_usage(cli, "--forget goes with no new limit; what is given replaces what was");
    if (options->strict != 0 && whose == NULL) return cli_usage(cli, "--strict goes with --group G or --each-group");
    if (options->each_group && options->pause_ms >= 0)
        return cli_usage(cli, "--pause-for is for a queue or for one group, not for --each-group");
    if (whose != NULL && !changes(options))
        return cli_usage(cli, "--%s goes with what to change: --concurrency, --rate%s", whose,
                         options->group != NULL ? ", --strict, --pause-for or --forget"
                         : is_virtual(options)  ? " or --forget"
                                                : ", --strict");
    if (changes(options) && (options->page.limit != limit_defaults.page.limit || options->page.offset > 0))
        return cli_usage(cli, "--limit and --offset are for showing limits, not for changing them");
    if (check_name(cli, "group", options->group, REEVE_GROUP_MAX) != CLI_DONE ||
        check_name(cli, "key", options->key, REEVE_LIMIT_KEY_MAX) != CLI_DONE)
        return CLI_USAGE;
    return cli_queue_argument(cli, cli->rest[0]);
}

/* ---- changing -------------------------------------------------------------------------------------------------- */

static reeve_status set_limits(const cli_context *cli, const struct limit_options *options)
{
    reeve_limit_change change = {.size = sizeof(change),
                                 .of = options->group != NULL  ? REEVE_LIMIT_GROUP
                                       : options->type != NULL ? REEVE_LIMIT_TYPE
                                       : options->key != NULL  ? REEVE_LIMIT_KEY
                                       : options->each_group   ? REEVE_LIMIT_GROUPS
                                                               : REEVE_LIMIT_QUEUE,
                                 .group = options->group,
                                 .type = options->type,
                                 .key = options->key,
                                 .concurrency = options->concurrency,
                                 .rate = options->has_rate ? &options->rate : NULL,
                                 .forget = options->forget,
                                 .strict = options->strict};

    return changes_limits(options) ? reeve_limit(cli->client, cli->rest[0], &change) : REEVE_OK;
}

static void report_json(const cli_context *cli, const struct limit_options *options, int64_t until_ms)
{
    bool own = options->group != NULL;
    cli_json json;

    cli_json_begin(&json, stdout);
    cli_json_text(&json, "queue", cli->rest[0]);
    cli_json_text(&json, "of",
                  own                     ? "group"
                  : options->type != NULL ? "type"
                  : options->key != NULL  ? "key"
                  : options->each_group   ? "each_group"
                                          : "queue");
    cli_json_text(&json, "group", options->group);
    if (options->type != NULL) cli_json_text(&json, "type", options->type);
    if (options->key != NULL) cli_json_text(&json, "key", options->key);
    cli_json_bool(&json, "forgotten", options->forget);
    if (options->concurrency != 0) cli_concurrency_json(&json, options->concurrency, own);
    if (options->has_rate) cli_rate_json(&json, &options->rate, own);
    if (options->strict != 0) cli_json_bool(&json, "strict", options->strict > 0);
    if (options->pause_ms >= 0) cli_json_maybe(&json, "pause_until_ms", until_ms == 0 ? -1 : until_ms);
    cli_json_end(&json);
}

static void add_changes(rv_buf *words, const struct limit_options *options, int64_t until_ms)
{
    char text[CLI_LIMIT_TEXT];

    if (options->forget) rv_buf_adds(words, " no limits of its own");
    if (options->concurrency != 0)
        rv_buf_addf(words, " concurrency %s", cli_concurrency_text(options->concurrency, text));
    if (options->has_rate)
        rv_buf_addf(words, "%s rate %s", options->concurrency != 0 ? "," : "",
                    cli_limit_rate_text(&options->rate, text));
    if (options->strict != 0)
        rv_buf_addf(words, "%s strict %s", options->concurrency != 0 || options->has_rate ? "," : "",
                    options->strict > 0 ? "yes" : "no");
    if (options->pause_ms >= 0)
        rv_buf_addf(words, "%s pause %s", changes_limits(options) ? "," : "", cli_pause_text(until_ms, text));
}

static void add_name(rv_buf *words, const char *what, const char *name)
{
    rv_buf_addf(words, ", %s ", what);
    cli_utf8_add_safe(words, name, strlen(name), false);
}

static void report(const cli_context *cli, const struct limit_options *options, int64_t until_ms)
{
    rv_buf words;

    rv_buf_init(&words, 4096);
    rv_buf_adds(&words, cli->rest[0]);
    if (options->each_group) rv_buf_adds(&words, ", each group");
    if (options->type != NULL) rv_buf_addf(&words, ", type %s", options->type);
    if (options->group != NULL) add_name(&words, "group", options->group);
    if (options->key != NULL) add_name(&words, "key", options->key);
    rv_buf_addc(&words, ':');
    add_changes(&words, options, until_ms);
    (void)puts(rv_buf_text(&words));
    rv_buf_fini(&words);
}

static int change(cli_context *cli, const struct limit_options *options)
{
    int64_t until_ms = 0;
    reeve_status status;

    cli_note_new_queue(cli, cli->rest[0]);
    status = set_limits(cli, options);
    if (status == REEVE_OK && options->pause_ms >= 0)
        status = reeve_pause_for(cli->client, cli->rest[0], options->group, options->pause_ms, &until_ms);
    if (status != REEVE_OK) return cli_fail_call(cli, status, cli->rest[0]);
    if (cli->json)
        report_json(cli, options, until_ms);
    else
        report(cli, options, until_ms);
    return CLI_DONE;
}

static int limit(cli_context *cli, void *pointer)
{
    const struct limit_options *options = pointer;
    int status = check(cli, options);

    if (status == CLI_DONE) status = cli_open_queue(cli, cli->rest[0]);
    if (status != CLI_DONE) return status;
    if (changes(options)) return change(cli, options);
    cli_note_no_queue(cli, cli->rest[0]);
    return cli_show_limits(cli, cli->rest[0], &options->page);
}

const cli_verb cli_verb_limit = {
    .name = "limit",
    .section = CLI_QUEUES,
    .synopsis = "QUEUE [--group G | --each-group] [--concurrency N|none] [--rate RATE|none] [--strict yes|no]\n"
                "                   [--pause-for DURATION|none]\n"
                "       reeve limit QUEUE --type TYPE|--key KEY [--concurrency N|none] [--rate RATE|none]\n"
                "       reeve limit QUEUE --group G|--type TYPE|--key KEY --forget\n"
                "       reeve limit QUEUE [--limit N] [--offset N]",
    .summary = "Shows or sets limits of concurrency and rate, and pauses for a time",
    .options = limit_table,
    .options_size = sizeof(struct limit_options),
    .defaults = &limit_defaults,
    .min = 1,
    .max = 1,
    .run = limit,
    .notes =
        "A limit applies to all workers together. A change is in force at once. Limits that are not given stay as\n"
        "they are. A RATE is COUNT/PERIOD[:BURST], such as 100/1s, 5/m or 100/1s:20. With the BURST 20, up to 20\n"
        "tasks may start together after an idle time.\n"
        "\n"
        "A group that is paused or at its limit does not delay other groups: its tasks are parked. With\n"
        "--concurrency 1, the tasks of a group run one at a time, in order; but while a task waits for a retry, the\n"
        "next one runs. With --strict yes, the group also waits for the retries of a started task, until that task\n"
        "has ended.\n"
        "\n"
        "With --type, the limits count all tasks of the type; with --key, all tasks with this limit key (option\n"
        "--limit-key of `reeve enqueue`). A task starts when the queue, its group, its type and all its limit keys\n"
        "have room. A type or key at its limit does not delay other tasks.\n"
        "\n"
        "While a queue or a group is paused, none of its tasks starts. Running tasks continue. Without an option\n"
        "that changes something, the command prints the limits of the queue, each group that has its own limits, is\n"
        "paused, or has parked tasks, and each type and limit key with limits.\n"
        "\n"
        "Examples:\n"
        "  reeve limit thumbs --concurrency 16 --rate 100/1s\n"
        "  reeve limit thumbs --each-group --concurrency 1\n"
        "  reeve limit thumbs --group customer-4 --pause-for 90s\n"
        "  reeve limit thumbs --type video --concurrency 2\n"
        "  reeve limit thumbs --key gpu --concurrency 1\n"
        "  reeve limit thumbs --rate none\n",
};
