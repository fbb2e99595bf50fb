#include "words.h"

#include <stdio.h>
#include <string.h>

#include "args.h"
#include "base/buf.h"
#include "base/nearest.h"
#include "handle.h"
#include "verbs.h"

static const cli_word *find(const cli_word *words, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(words[i].name, name) == 0) return &words[i];
    return NULL;
}

/* "add, list or remove" */
static void list_names(rv_buf *out, const cli_word *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rv_buf_addf(out, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", words[i].name);
}

static int say_unknown(const cli_context *cli, const cli_word *words, size_t count)
{
    const char *name = cli->rest[0];
    rv_nearest nearest;
    rv_buf names;

    rv_nearest_init(&nearest, name);
    for (size_t i = 0; i < count; i++) rv_nearest_try(&nearest, words[i].name);
    if (nearest.name != NULL) return cli_usage(cli, "unknown \"%.100s\"; did you mean \"%s\"?", name, nearest.name);
    rv_buf_init(&names, 4096);
    list_names(&names, words, count);
    int status = cli_usage(cli, "unknown \"%.100s\": expected %s", name, rv_buf_text(&names));
    rv_buf_fini(&names);
    return status;
}

static bool takes(const cli_word *word, const char *option)
{
    char name[64];

    (void)snprintf(name, sizeof(name), " %.60s ", option);
    if (word->options != NULL) return strstr(word->options, name) != NULL;
    return word->except == NULL || strstr(word->except, name) == NULL;
}

static bool takes_all_given(const cli_context *cli, const cli_word *word)
{
    for (const cli_option *option = cli->verb->options; option->name != NULL; option++)
        if (cli_was_given(cli, option->name) && !takes(word, option->name)) return false;
    return true;
}

static int check_handles(const cli_context *cli)
{
    cli_handle handle;
    int status = CLI_DONE;

    for (size_t i = 1; i < cli->count && status == CLI_DONE; i++)
        status = cli_handle_argument(cli, &handle, cli->rest[i]);
    return status;
}

static int check(const cli_context *cli, const cli_word *word)
{
    const char *verb = cli->verb->name;
    size_t count = cli->count - 1;

    if (count < word->min)
        return cli_usage(cli, "an argument is missing: reeve %s %s %s", verb, word->name, word->synopsis);
    if (count > word->max)
        return cli_usage(cli, "\"%.200s\" is one argument too many: reeve %s %s %s", cli->rest[word->max + 1], verb,
                         word->name, word->synopsis);
    if (!takes_all_given(cli, word))
        return cli_usage(cli, "an option that is not for `%s %s`: reeve %s %s %s", verb, word->name, verb, word->name,
                         word->synopsis);
    return word->handles ? check_handles(cli) : CLI_DONE;
}

int cli_words_run(cli_context *cli, const cli_word *words, size_t count, void *options)
{
    const cli_word *word = find(words, count, cli->rest[0]);
    int status;

    if (word == NULL) return say_unknown(cli, words, count);
    status = check(cli, word);
    return status == CLI_DONE ? word->run(cli, options) : status;
}
