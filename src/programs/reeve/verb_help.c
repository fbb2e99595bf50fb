/*
 * verb_help.c - `reeve help` and `reeve version`.
 */
#include <stdio.h>

#include "cli/verbs.h"
#include "help.h"
#include "version_view.h"

static int help(cli_context *cli, void *options)
{
    const char *name = cli->count > 0 ? cli->rest[0] : NULL;
    const cli_verb *verb = name == NULL ? NULL : cli_find_verb(name);

    (void)options;
    if (name != NULL && verb == NULL) return cli_unknown_verb(cli, name);
    if (cli->json)
        cli_print_help_json(verb);
    else if (verb == NULL)
        cli_print_help();
    else
        cli_print_verb_help(verb);
    return CLI_DONE;
}

/* Neither needs Redis, or prints a table. */
static const cli_option own_globals[] = {{.name = "redis"},      {.name = "redis-file"}, {.name = "ns"},
                                         {.name = "size-limit"}, {.name = "wide"},       {0}};

const cli_verb cli_verb_help = {
    .name = "help",
    .section = CLI_TOOLS,
    .synopsis = "[COMMAND]",
    .summary = "Prints the help of all commands, or of one",
    .max = 1,
    .run = help,
    .other_globals = own_globals,
    .notes =
        "--json prints the contents of the help as one object: the commands with their synopses, options and notes,\n"
        "the global options, and the exit statuses.\n"
        "\n"
        "Examples:\n"
        "  reeve help enqueue\n"
        "  reeve help --json | jq -r '.verbs[].verb'\n",
    .exits = "0 done, 2 there is no such command.",
};

static int version(cli_context *cli, void *options)
{
    (void)options;
    cli_print_version(cli);
    return CLI_DONE;
}

const cli_verb cli_verb_version = {
    .name = "version",
    .section = CLI_TOOLS,
    .synopsis = "",
    .summary = "Prints the version of reeve",
    .run = version,
    .other_globals = own_globals,
    .notes = "`reeve doctor` compares it with the versions of the workers.\n"
             "\n"
             "Example:\n"
             "  reeve version --json | jq -r .version\n",
    .exits = "0 done, 2 wrong usage.",
};
