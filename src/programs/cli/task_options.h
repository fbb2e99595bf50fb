/*
 * task_options.h - the options of a task that several verbs take.
 *
 * A verb's options struct begins with a cli_task_options: its own rows point into it, with these as their read
 * functions.
 */
#ifndef CLI_TASK_OPTIONS_H
#define CLI_TASK_OPTIONS_H

#include "cli.h"

#define CLI_TAGS_MOST 256

typedef struct cli_task_options {
    reeve_task_spec spec;
    reeve_backoff backoff;
    int weight;
    const char *tags[CLI_TAGS_MOST];
    reeve_meta meta[CLI_TAGS_MOST];
    reeve_parent after[CLI_TAGS_MOST];
} cli_task_options;

int cli_read_tag(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_read_meta(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_read_after(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_read_backoff(const cli_context *cli, const cli_option *option, void *options, char *value);

/* What stands in a task's JSON header must be UTF-8; NULL will do. CLI_DONE, or CLI_USAGE after words. */
int cli_check_text(const cli_context *cli, const char *name, const char *value);

/* Makes the spec whole, for a queue and a type. The options must stay where they are. CLI_DONE, or CLI_USAGE after
 * words. */
int cli_task_options_finish(const cli_context *cli, cli_task_options *options, const char *queue, const char *type);

#endif
