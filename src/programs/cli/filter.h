/*
 * filter.h - the options that select tasks of a queue, the same for all verbs that list or change many.
 */
#ifndef CLI_FILTER_H
#define CLI_FILTER_H

#include "cli.h"
#include "reeve/search.h"

/* What the options become. It is the first member of the options struct of a verb. */
typedef struct cli_filter {
    bool has_state;
    bool all_states; /* --state all */
    reeve_state state;
    const char *kind;
    const char *type;
    const char *tag;
    const char *group;
    const char *id_prefix;
    const char *payload_has;
    const char *worker; /* its name or its id; once cli_filter_resolve was called, its id */
    char worker_id[REEVE_ID_MAX];
    reeve_meta meta[REEVE_FILTER_META_MAX];
    size_t meta_count;
    bool failed;
    bool not_failed;
    int64_t older_ms;
    int64_t enqueued_after_ms, enqueued_before_ms;
    int64_t due_after_ms, due_before_ms;
    int64_t ended_after_ms, ended_before_ms;
} cli_filter;

/* cli_option.read of --state and --meta. */
int cli_filter_read_state(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_filter_read_meta(const cli_context *cli, const cli_option *option, void *options, char *value);

#define CLI_FILTER_AT(field) offsetof(cli_filter, field)
#define CLI_FILTER_STATE(help)                                            \
    {                                                                     \
        "state", "STATE", help, CLI_OTHER, 0, 0, 0, cli_filter_read_state \
    }
#define CLI_FILTER_OLD_ENDED "only tasks that ended at least this long ago"
#define CLI_FILTER_OLD_ENQUEUED "only tasks that were enqueued at least this long ago"
#define CLI_FILTER_OLD_ANY                                                                                           \
    "only tasks that ended at least this long ago; of tasks that have not ended, those enqueued at least this long " \
    "ago"
#define CLI_FILTER_FAILED "only tasks with a failed attempt"
#define CLI_FILTER_RETRYING CLI_FILTER_FAILED "; with --state scheduled: tasks that wait for a retry"
/* clang-format off */
/*
 * Rows of the table of a verb. failed: what --failed selects, depending on whether the verb takes scheduled tasks.
 * older: what the age of a task is in the states of the verb. A verb adds the rows of CLI_FILTER_WORKER, CLI_FILTER_DUE and
 * CLI_FILTER_ENDED if its states have tasks that these filters can select.
 */
#define CLI_FILTER_ROWS(failed, older) CLI_FILTER_ROWS_AS("", "", failed, older)
/* The same for a verb some of whose own options have such names: these get a prefix here, "only-". */
#define CLI_FILTER_ROWS_AS(kind_prefix, prefix, failed_help, older) \
    {prefix "type", "TYPE", "only tasks of this type", CLI_TEXT, CLI_FILTER_AT(type), 0, 0, NULL}, \
    {kind_prefix "kind", "KIND", "only tasks whose last error is of this kind", CLI_TEXT, CLI_FILTER_AT(kind), 0, 0, NULL}, \
    {prefix "tag", "TAG", "only tasks with this tag", CLI_TEXT, CLI_FILTER_AT(tag), 0, 0, NULL}, \
    {prefix "group", "G", "only tasks of this group", CLI_TEXT, CLI_FILTER_AT(group), 0, 0, NULL}, \
    {prefix "meta", "KEY=VALUE", "only tasks with this metadata; may be repeated", CLI_OTHER, 0, 0, 0, \
     cli_filter_read_meta}, \
    {"id-prefix", "TEXT", "only tasks whose id begins with this", CLI_TEXT, CLI_FILTER_AT(id_prefix), 0, 0, NULL}, \
    {"payload-has", "TEXT", "only tasks whose payload contains this", CLI_TEXT, CLI_FILTER_AT(payload_has), 0, 0, \
     NULL}, \
    {"failed", NULL, failed_help, CLI_FLAG, CLI_FILTER_AT(failed), 0, 0, NULL}, \
    {"not-failed", NULL, "only tasks without a failed attempt", CLI_FLAG, CLI_FILTER_AT(not_failed), 0, 0, \
     NULL}, \
    {"older-than", "DURATION", older, CLI_DURATION, CLI_FILTER_AT(older_ms), 1, 0, NULL}, \
    {"enqueued-after", "TIME", "only tasks that were enqueued at this time or later", CLI_TIME, \
     CLI_FILTER_AT(enqueued_after_ms), 0, 0, NULL}, \
    {"enqueued-before", "TIME", "only tasks that were enqueued before this time", CLI_TIME, \
     CLI_FILTER_AT(enqueued_before_ms), 0, 0, NULL}

/* Of running and completed tasks. */
#define CLI_FILTER_WORKER(help) \
    {"worker", "WORKER", help, CLI_TEXT, CLI_FILTER_AT(worker), 0, 0, NULL}
#define CLI_FILTER_RUNS "only running tasks that the worker with this name or id runs"
#define CLI_FILTER_RAN "only completed tasks that the worker with this name or id ran, according to their record"
#define CLI_FILTER_RUNS_OR_RAN \
    CLI_FILTER_RUNS ", and completed tasks that it ran, according to their record"

/* Of scheduled tasks. */
#define CLI_FILTER_DUE \
    {"due-after", "TIME", "only scheduled tasks that are due at this time or later", CLI_TIME, \
     CLI_FILTER_AT(due_after_ms), 0, 0, NULL}, \
    {"due-before", "TIME", "only scheduled tasks that are due before this time", CLI_TIME, \
     CLI_FILTER_AT(due_before_ms), 0, 0, NULL}

/* Of tasks that have ended. */
#define CLI_FILTER_ENDED \
    {"ended-after", "TIME", "only tasks that ended at this time or later", CLI_TIME, CLI_FILTER_AT(ended_after_ms), \
     0, 0, NULL}, \
    {"ended-before", "TIME", "only tasks that ended before this time", CLI_TIME, CLI_FILTER_AT(ended_before_ms), 0, \
     0, NULL}
/* clang-format on */

/* For the synopsis of a verb, and for sentences that ask for one of them. */
#define CLI_FILTER_SYNOPSIS "[FILTER...]"

/* Whether it has more than a state. */
bool cli_filter_is_set(const cli_filter *filter);

/* The name that the verb's option for this text of the filter has: cli_filter_option(cli, CLI_FILTER_AT(type)). */
const char *cli_filter_option(const cli_context *cli, size_t at);

/* Checks what no single option tells. CLI_DONE, or CLI_USAGE after words. */
int cli_filter_check(const cli_context *cli, const cli_filter *filter);

/* The states of the tasks that the filter of this name selects, as text, if none of `states` is among them; else NULL. */
const char *cli_filter_only(const char *name, const reeve_state *states, size_t count);

/* Refuses a filter that selects no task in any of these states, such as --due-before of dead tasks. CLI_DONE, or CLI_USAGE
 * after words. */
int cli_filter_check_states(const cli_context *cli, const reeve_state *states, size_t count);

/* The states of the tasks that a filter selects which this verb does not have, as text; NULL: `option` is no such filter,
 * or the verb has no filters. */
const char *cli_filter_missing(const cli_verb *verb, const char *option);

/* Puts the id of the worker in the place of its name. CLI_DONE, or the exit status of a failure that was said. The
 * client is open. */
int cli_filter_resolve(const cli_context *cli, cli_filter *filter);

/* The filter for one state, which points into *filter. */
reeve_filter cli_filter_in(const cli_filter *filter, reeve_state state);

/* How many tasks there are in these states to be compared with the filter, about; 0: unknown. */
uint64_t cli_filter_count(const cli_context *cli, const cli_filter *filter, const char *queue,
                          const reeve_state *states, size_t count);

#endif
