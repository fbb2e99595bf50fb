/*
 * reeve_main.c - finds the verb, and does what surrounds each of them.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hide.h"
#include "base/mem.h"
#include "base/streams.h"
#include "cli/args.h"
#include "cli/cli.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "help.h"
#include "redis/secret.h"
#include "version_view.h"

static void *make_options(const cli_verb *verb)
{
    size_t size = verb->options_size == 0 ? 1 : verb->options_size;

    return verb->defaults == NULL ? rv_zalloc(size) : rv_memdup(verb->defaults, size);
}

static int run_verb(cli_context *cli, const cli_verb *verb)
{
    void *options = make_options(verb);
    int status;

    cli->verb = verb;
    if (options == NULL) return cli_no_memory(cli);
    status = cli_read_options(cli, options);
    if (status == CLI_DONE) cli->json_faults = cli->json;
    cli_table_wide(cli->wide);
    if (status == CLI_DONE && cli->help)
        cli_print_verb_help(verb);
    else if (status == CLI_DONE && cli->version)
        cli_print_version(cli);
    else if (status == CLI_DONE && (status = cli_read_size_limits(cli)) == CLI_DONE &&
             (status = cli_read_redis_file(cli)) == CLI_DONE)
        status = verb->run(cli, options);
    if (status == CLI_REFUSED) cli_note_private(cli);
    reeve_client_close(cli->client);
    reeve_plugin_close(cli->layers_plugin);
    rv_secret_free(cli->secret);
    rv_free(options);
    return status;
}

static int run(cli_context *cli, int argc, char **argv)
{
    int status = cli_read_globals(cli, argc, argv);
    const cli_verb *verb;

    if (status != CLI_DONE) return status;
    if (cli->version)
        cli_print_version(cli);
    else if (cli->argc == 0 && cli->help)
        cli_print_help();
    if (cli->version || (cli->argc == 0 && cli->help)) return CLI_DONE;
    if (cli->argc == 0) return cli_usage(cli, "a command is missing");
    verb = cli_find_verb(cli->argv[0]);
    return verb == NULL ? cli_unknown_verb(cli, cli->argv[0]) : run_verb(cli, verb);
}

/* Whether --json is among the arguments, for what goes wrong before they are read. */
static bool wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) return true;
    return false;
}

int main(int argc, char **argv)
{
    cli_context cli = {.json_faults = wants_json(argc, argv)};
    int status;

    rv_hide_passwords(argc, argv);
    rv_streams_fill();
    (void)signal(SIGPIPE, SIG_IGN); /* a reader that goes away is an error of write, and that is looked at */
    status = run(&cli, argc, argv);
    if (!cli_flush(&cli) && status == CLI_DONE) status = CLI_REFUSED;
    return status;
}
