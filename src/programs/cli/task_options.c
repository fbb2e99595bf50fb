#include "task_options.h"

#include <string.h>

#include "after.h"
#include "args.h"
#include "base/backoff_text.h"
#include "conflict.h"
#include "utf8.h"

int cli_check_text(const cli_context *cli, const char *name, const char *value)
{
    if (value == NULL || cli_utf8_valid(value, strlen(value))) return CLI_DONE;
    return cli_usage(cli, "--%s \"%.200s\": expected UTF-8", name, value);
}

int cli_read_tag(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_task_options *options = pointer;

    if (options->spec.tag_count == CLI_TAGS_MAX)
        return cli_usage(cli, "--%s: at most %d of them", option->name, CLI_TAGS_MAX);
    options->tags[options->spec.tag_count++] = value;
    return cli_check_text(cli, option->name, value);
}

int cli_read_limit_key(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_task_options *options = pointer;

    if (options->spec.limit_key_count == REEVE_LIMIT_KEYS_MAX)
        return cli_usage(cli, "--%s: at most %d of them", option->name, REEVE_LIMIT_KEYS_MAX);
    options->limit_keys[options->spec.limit_key_count++] = value;
    return cli_check_text(cli, option->name, value);
}

int cli_read_meta(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_task_options *options = pointer;
    reeve_meta *meta = &options->meta[options->spec.meta_count];
    char *equals = strchr(value, '=');

    if (options->spec.meta_count == CLI_TAGS_MAX)
        return cli_usage(cli, "--%s: at most %d of them", option->name, CLI_TAGS_MAX);
    if (equals == NULL || equals == value) return cli_bad_value(cli, option, value, "KEY=VALUE");
    if (cli_check_text(cli, option->name, value) != CLI_DONE) return CLI_USAGE;
    *equals = '\0';
    meta->key = value;
    meta->value = equals + 1;
    options->spec.meta_count++;
    return CLI_DONE;
}

int cli_read_after(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_task_options *options = pointer;

    if (options->spec.after_count == CLI_TAGS_MAX)
        return cli_usage(cli, "--%s: at most %d of them", option->name, CLI_TAGS_MAX);
    if (!cli_after_parse(value, &options->after[options->spec.after_count]))
        return cli_bad_value(cli, option, value, "QUEUE/ID, or that with a rule behind it: " CLI_AFTER_NAMES);
    options->spec.after_count++;
    return CLI_DONE;
}

int cli_read_backoff(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_task_options *options = pointer;
    rv_error why;

    if (rv_backoff_text_parse(value, &options->backoff, &why) != REEVE_OK)
        return cli_usage(cli, "--%s: %s", option->name, why.text);
    options->spec.backoff = &options->backoff;
    return CLI_DONE;
}

int cli_read_until(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_task_options *options = pointer;

    if (cli_until_parse(value, &options->spec.unique_until_started)) return CLI_DONE;
    return cli_bad_value(cli, option, value, CLI_UNTIL_NAMES);
}

int cli_read_conflict(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_task_options *options = pointer;

    if (cli_conflict_parse(value, &options->spec.on_conflict)) return CLI_DONE;
    return cli_bad_value(cli, option, value, CLI_CONFLICT_NAMES);
}

int cli_read_if_exists(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_task_options *options = pointer;

    if (cli_exists_parse(value, &options->spec.if_exists)) return CLI_DONE;
    return cli_bad_value(cli, option, value, CLI_EXISTS_NAMES);
}

int cli_task_options_finish(const cli_context *cli, cli_task_options *options, const char *queue, const char *type)
{
    reeve_task_spec *spec = &options->spec;

    if (cli_check_text(cli, "group", spec->group) != CLI_DONE) return CLI_USAGE;
    spec->size = sizeof(*spec);
    spec->queue = queue;
    spec->type = type;
    spec->tags = options->tags;
    spec->limit_keys = options->limit_keys;
    spec->meta = options->meta;
    spec->after = options->after;
    return CLI_DONE;
}
