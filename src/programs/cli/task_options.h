/*
 * task_options.h - the options of a task that several verbs take: rows of protocol/definition/task_options.lua.
 *
 * A verb's options struct begins with a cli_task_options, and its table of options has CLI_TASK_ROW for each row of
 * RV_TASK_FLAGS or RV_CRON_FLAGS.
 */
#ifndef CLI_TASK_OPTIONS_H
#define CLI_TASK_OPTIONS_H

#include <stddef.h>

#include "cli.h"
#include "protocol/task_options.h"

#define CLI_TAGS_MAX 256

typedef struct cli_task_options {
    reeve_task_spec spec;
    reeve_backoff backoff;
    const char *tags[CLI_TAGS_MAX];
    const char *limit_keys[REEVE_LIMIT_KEYS_MAX];
    reeve_meta meta[CLI_TAGS_MAX];
    reeve_parent after[CLI_TAGS_MAX];
} cli_task_options;

#define CLI_TASK_ROW(name, argument, help, kind, field, min, max, read)                                            \
    {                                                                                                              \
        name, argument, help, kind, offsetof(cli_task_options, spec) + offsetof(reeve_task_spec, field), min, max, \
            read                                                                                                   \
    }

/* The read functions of rows. */
int cli_read_tag(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_read_limit_key(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_read_meta(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_read_after(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_read_backoff(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_read_until(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_read_if_exists(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_read_conflict(const cli_context *cli, const cli_option *option, void *options, char *value);

/* What stands in a task's JSON header must be UTF-8; NULL will do. CLI_DONE, or CLI_USAGE after words. */
int cli_check_text(const cli_context *cli, const char *name, const char *value);

/* Makes the spec whole, for a queue and a type. The options must stay where they are. CLI_DONE, or CLI_USAGE after
 * words. */
int cli_task_options_finish(const cli_context *cli, cli_task_options *options, const char *queue, const char *type);

#endif
