#include "edit_options.h"

#include <string.h>

#include "args.h"

/* Keeps one more text of an option that may be repeated. */
static int keep(const cli_context *cli, const cli_option *option, const char **list, size_t *count, size_t max,
                const char *value)
{
    if (*count == max) return cli_usage(cli, "--%s: at most %zu of them", option->name, max);
    list[(*count)++] = value;
    return cli_check_text(cli, option->name, value);
}

int cli_edit_read_limit_key(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_edit_options *options = pointer;

    return keep(cli, option, options->limit_keys, &options->edit.limit_key_count, REEVE_LIMIT_KEYS_MAX, value);
}

int cli_edit_read_tag(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_edit_options *options = pointer;

    return keep(cli, option, options->tags, &options->edit.tag_count, REEVE_TAGS_MAX, value);
}

int cli_edit_read_untag(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_edit_options *options = pointer;

    return keep(cli, option, options->removed_tags, &options->edit.removed_tag_count, CLI_TAGS_MAX, value);
}

int cli_edit_read_unmeta(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_edit_options *options = pointer;

    return keep(cli, option, options->removed_meta, &options->edit.removed_meta_count, CLI_TAGS_MAX, value);
}

int cli_edit_read_meta(const cli_context *cli, const cli_option *option, void *pointer, char *value)
{
    cli_edit_options *options = pointer;
    char *equals = strchr(value, '=');

    if (options->edit.meta_count == CLI_TAGS_MAX)
        return cli_usage(cli, "--%s: at most %d of them", option->name, CLI_TAGS_MAX);
    if (equals == NULL || equals == value) return cli_bad_value(cli, option, value, "KEY=VALUE");
    if (cli_check_text(cli, option->name, value) != CLI_DONE) return CLI_USAGE;
    *equals = '\0';
    options->meta[options->edit.meta_count++] = (reeve_meta){.key = value, .value = equals + 1};
    return CLI_DONE;
}

void cli_edit_finish(cli_edit_options *options)
{
    reeve_task_edit *edit = &options->edit;

    edit->size = sizeof(*edit);
    edit->limit_keys = options->limit_keys;
    edit->tags = options->tags;
    edit->removed_tags = options->removed_tags;
    edit->meta = options->meta;
    edit->removed_meta = options->removed_meta;
}
