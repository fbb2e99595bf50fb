/*
 * edit_options.h - the options of verbs that edit tasks: what a reeve_task_edit becomes.
 */
#ifndef CLI_EDIT_OPTIONS_H
#define CLI_EDIT_OPTIONS_H

#include "bulk_update.h"
#include "task_options.h"

/* A verb's options struct begins with it. */
typedef struct cli_edit_options {
    cli_bulk_update_options bulk;
    reeve_task_edit edit;
    reeve_backoff backoff;
    const char *payload; /* as PAYLOAD of `reeve enqueue` */
    const char *limit_keys[REEVE_LIMIT_KEYS_MAX];
    const char *tags[REEVE_TAGS_MAX];
    const char *removed_tags[CLI_TAGS_MAX];
    reeve_meta meta[CLI_TAGS_MAX];
    const char *removed_meta[CLI_TAGS_MAX];
} cli_edit_options;

/* The read functions of rows. */
int cli_edit_read_limit_key(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_edit_read_tag(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_edit_read_untag(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_edit_read_meta(const cli_context *cli, const cli_option *option, void *options, char *value);
int cli_edit_read_unmeta(const cli_context *cli, const cli_option *option, void *options, char *value);

/* Lets the edit point to what was read. */
void cli_edit_finish(cli_edit_options *options);

#endif
