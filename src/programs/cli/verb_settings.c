/*
 * verb_settings.c - `reeve settings`: changes what holds for a queue's tasks; settings_view.c shows it.
 */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "base/backoff_text.h"
#include "base/error.h"
#include "base/id.h"
#include "base/text.h"
#include "maintain.h"
#include "settings_view.h"
#include "verbs.h"

#define COUNT_MAX 1000000000
#define DAYS_MAX 3650
#define BYTES_MAX INT64_C(1000000000000000)
#define PART_MAX 32

/* What an option asks for; what it does not say stays. */
struct number_change {
    bool given;
    int64_t number; /* 0: the default */
};
struct keep_change {
    bool has_age, has_count, has_bytes;
    reeve_keep keep;
    int64_t bytes; /* 0: any number */
};

struct settings_options {
    struct number_change attempts, max_crashes, timeout_ms;
    int record_runs; /* 1: yes, -1: no, 0: not given */
    bool has_backoff;
    bool backoff_given; /* false: the default */
    reeve_backoff backoff;
    const char *on_dead; /* NULL: not given; "": none */
    struct keep_change completed, dead;
    int stats_days; /* negative: not given */
    bool has_result_max;
    int64_t result_max; /* 0: the default */
};

/* ---- options --------------------------------------------------------------------------------------------------- */

static bool is_default(const char *value)
{
    return strcmp(value, "default") == 0;
}

static int read_number(const cli_context *cli, const cli_option *option, void *options, char *value)
{
    struct number_change *change = (void *)((char *)options + option->at);

    change->given = true;
    change->number = 0;
    if (is_default(value) || rv_parse_int(value, 1, option->most, &change->number)) return CLI_DONE;
    return cli_bad_value(cli, option, value, "a whole number from 1 to 1000000, or default");
}

static int read_timeout(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct settings_options *options = pointer;
    int64_t *ms = &options->timeout_ms.number;

    options->timeout_ms.given = true;
    *ms = 0;
    if (is_default(value) || (rv_parse_duration(value, ms) && *ms > 0)) return CLI_DONE;
    return cli_bad_value(cli, option, value, "a duration above zero " RV_DURATION_EXAMPLES ", or default");
}

static int read_backoff(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct settings_options *options = pointer;
    rv_error why;

    options->has_backoff = true;
    options->backoff_given = !is_default(value);
    if (!options->backoff_given || rv_backoff_parse(value, &options->backoff, &why) == REEVE_OK) return CLI_DONE;
    return cli_usage(cli, "--%s: %s; or default", option->name, why.text);
}

static int read_on_dead(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct settings_options *options = pointer;

    options->on_dead = strcmp(value, "none") == 0 ? "" : value;
    if (options->on_dead[0] == '\0' || rv_valid_type(value, strlen(value))) return CLI_DONE;
    return cli_bad_value(cli, option, value, "a type (1 to 100 of A-Z a-z 0-9 . _ - : /), or none");
}

static bool parse_age(const char *text, int64_t *ret)
{
    *ret = strcmp(text, "forever") == 0 ? -1 : 0;
    if (*ret < 0 || strcmp(text, "none") == 0) return true;
    return rv_parse_duration(text, ret);
}

static bool parse_count(const char *text, int64_t *ret)
{
    *ret = -1;
    return strcmp(text, "all") == 0 || rv_parse_int(text, 0, COUNT_MAX, ret);
}

static bool parse_bytes(const char *text, int64_t *ret)
{
    *ret = 0;
    return strcmp(text, "any") == 0 || (rv_parse_size(text, ret) && *ret >= 1 && *ret <= BYTES_MAX);
}

/* Copies what stands before the next colon; returns what stands behind it, NULL when there is none. */
static const char *take_part(const char *value, char ret[PART_MAX])
{
    size_t length = strcspn(value, ":");

    ret[0] = '\0';
    if (length < PART_MAX) rv_copy_text(ret, length + 1, value);
    return value[length] == ':' ? value + length + 1 : NULL;
}

/* AGE[:COUNT[:BYTES]] */
static bool parse_keep(const char *value, struct keep_change *change)
{
    char age[PART_MAX], count[PART_MAX] = "";
    const char *rest = take_part(value, age);

    *change = (struct keep_change){.has_age = true, .has_count = rest != NULL};
    if (rest != NULL) rest = take_part(rest, count);
    change->has_bytes = rest != NULL;
    return parse_age(age, &change->keep.age_ms) && (!change->has_count || parse_count(count, &change->keep.count)) &&
           (!change->has_bytes || parse_bytes(rest, &change->bytes));
}

static int read_keep(const cli_context *cli, const cli_option *option, void *options, char *value)
{
    struct keep_change *change = (void *)((char *)options + option->at);
    bool dead = option->at == offsetof(struct settings_options, dead);

    if (parse_keep(value, change) && !(dead && change->has_bytes)) return CLI_DONE;
    return cli_bad_value(
        cli, option, value,
        dead
            ? "AGE[:COUNT], for instance 7d, 12h:5000, forever:all or none (ages to 2000000000 s, counts to 1000000000)"
            : "AGE[:COUNT[:BYTES]], for instance 7d, 12h:5000, forever:all:64M or none (ages to 2000000000 s, counts "
              "to 1000000000)");
}

static int read_result_max(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct settings_options *options = pointer;

    options->has_result_max = true;
    options->result_max = 0;
    if (is_default(value)) return CLI_DONE;
    if (rv_parse_size(value, &options->result_max) && options->result_max >= 1 && options->result_max <= option->most)
        return CLI_DONE;
    return cli_bad_value(cli, option, value, "bytes from 1 to 16777216 such as 4096, 64K or 1M, or default");
}

static int read_record_runs(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    struct settings_options *options = pointer;

    options->record_runs = strcmp(value, "yes") == 0 ? 1 : -1;
    if (options->record_runs == 1 || strcmp(value, "no") == 0) return CLI_DONE;
    return cli_bad_value(cli, option, value, "yes or no");
}

#define AT(field) offsetof(struct settings_options, field)

static const cli_option settings_table[] = {
    {"attempts", "N|default", "number of attempts before a task dies", CLI_OTHER, AT(attempts), 1, 1000000,
     read_number},
    {"backoff", "SPEC|default", "delays before retries: fixed:30s, list:1s,10s, exponential:1s:1h", CLI_OTHER, 0, 0, 0,
     read_backoff},
    {"max-crashes", "N|default", "number of crashes before a task dies", CLI_OTHER, AT(max_crashes), 1, 1000000,
     read_number},
    {"timeout", "DURATION|default", "run time limit", CLI_OTHER, 0, 0, 0, read_timeout},
    {"record-runs", "yes|no", "record when and where completed tasks ran (no)", CLI_OTHER, 0, 0, 0, read_record_runs},
    {"on-dead", "TYPE|none", "type of a task to enqueue for each one that dies", CLI_OTHER, 0, 0, 0, read_on_dead},
    {"result-max", "BYTES|default", "maximum length of a result", CLI_OTHER, 0, 0, REEVE_RESULT_MAX, read_result_max},
    {"keep-completed", "AGE[:COUNT[:BYTES]]",
     "retention of completed and cancelled tasks; limit of all results together", CLI_OTHER, AT(completed), 0, 0,
     read_keep},
    {"keep-dead", "AGE[:COUNT]", "retention of dead tasks", CLI_OTHER, AT(dead), 0, 0, read_keep},
    {"keep-stats", "DAYS", "number of days for which statistics are kept; 0: make none", CLI_INT, AT(stats_days), 0,
     DAYS_MAX, NULL},
    {0},
};
static const struct settings_options settings_defaults = {.stats_days = -1};

/* ---- changing -------------------------------------------------------------------------------------------------- */

static bool changes_policy(const struct settings_options *options)
{
    return options->attempts.given || options->max_crashes.given || options->timeout_ms.given || options->has_backoff ||
           options->record_runs != 0;
}

static void merge_policy(reeve_queue_policy *policy, const struct settings_options *options)
{
    if (options->attempts.given) policy->max_attempts = (int)options->attempts.number;
    if (options->max_crashes.given) policy->max_crashes = (int)options->max_crashes.number;
    if (options->record_runs != 0) policy->record_runs = options->record_runs > 0;
    if (options->timeout_ms.given) policy->timeout_ms = options->timeout_ms.number;
    if (options->has_backoff) policy->backoff = options->backoff_given ? &options->backoff : NULL;
}

static void merge_keep(reeve_keep *keep, const struct keep_change *change)
{
    if (change->has_age) keep->age_ms = change->keep.age_ms;
    if (change->has_count) keep->count = change->keep.count;
}

static reeve_status change(const cli_context *cli, const struct settings_options *options,
                           const reeve_queue_settings *held)
{
    reeve_queue_policy policy = *held->policy;
    reeve_keep completed = *held->completed, dead = *held->dead;
    unsigned days = options->stats_days >= 0 ? (unsigned)options->stats_days : 0;
    reeve_queue_settings settings = {.size = sizeof(settings),
                                     .completed = options->completed.has_age ? &completed : NULL,
                                     .dead = options->dead.has_age ? &dead : NULL,
                                     .policy = changes_policy(options) ? &policy : NULL,
                                     .on_dead = options->on_dead,
                                     .stats_days = options->stats_days >= 0 ? &days : NULL,
                                     .completed_bytes = options->completed.has_bytes ? &options->completed.bytes : NULL,
                                     .result_max = options->has_result_max ? &options->result_max : NULL};

    merge_policy(&policy, options);
    merge_keep(&completed, &options->completed);
    merge_keep(&dead, &options->dead);
    return reeve_queue_set(cli->client, cli->rest[0], &settings);
}

/* What is there is read first: a policy is replaced as a whole, and so is what is kept of a state. */
static int run_settings(cli_context *cli, void *pointer)
{
    const struct settings_options *options = pointer;
    const char *queue = cli->rest[0];
    reeve_queue_settings *held = NULL;
    reeve_status result;
    int status = cli_queue_argument(cli, queue);

    if (status == CLI_DONE) status = cli_open_queue(cli, queue);
    if (status != CLI_DONE) return status;
    result = reeve_queue_settings_get(cli->client, queue, &held);
    if (result == REEVE_OK && cli->given > 0) {
        result = change(cli, options, held);
        reeve_queue_settings_free(held);
        held = NULL;
        if (result == REEVE_OK) result = reeve_queue_settings_get(cli->client, queue, &held);
    }
    if (result != REEVE_OK) return cli_fail_call(cli, result, queue);
    status = cli_show_settings(cli, queue, held);
    reeve_queue_settings_free(held);
    return status;
}

const cli_verb cli_verb_settings = {
    .name = "settings",
    .section = CLI_QUEUES,
    .synopsis = "QUEUE [--attempts N|default] [--backoff SPEC|default] [--max-crashes N|default]\n"
                "       [--timeout DURATION|default] [--on-dead TYPE|none] [--result-max BYTES|default]\n"
                "       [--keep-completed AGE[:COUNT[:BYTES]]] [--keep-dead AGE[:COUNT]] [--keep-stats DAYS]",
    .summary = "Shows or sets the settings of a queue",
    .options = settings_table,
    .options_size = sizeof(struct settings_options),
    .defaults = &settings_defaults,
    .least = 1,
    .most = 1,
    .run = run_settings,
    .notes =
        "Changes the given settings, and prints all; without an option it only prints. Changes are in force at\n"
        "once, for all workers. Attempts, backoff, crashes and timeout apply to tasks that do not set them, and\n"
        "whose handlers do not either. A worker whose configuration has settings of the queue writes them when it\n"
        "starts.\n"
        "\n"
        "AGE is a duration, \"forever\", or \"none\", which keeps nothing; COUNT is a number or \"all\"; BYTES is the\n"
        "total length of all results, such as 64M, or \"any\". COUNT and BYTES stay as they are when they are not\n"
        "given. The newest tasks are kept. A task with a result longer than --result-max dies with kind \"result\".\n"
        "\n"
        "Examples:\n"
        "  reeve settings mail --attempts 10 --backoff exponential:500ms:10m\n"
        "  reeve settings mail --timeout default --keep-completed 12h:5000\n"
        "  reeve settings thumbs --result-max 1M --keep-completed 1d:all:512M\n"
        "  reeve settings mail\n",
};
