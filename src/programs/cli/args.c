#include "args.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "base/text.h"
#include "filter.h"

#define OPTIONS_MAX 60 /* (at most 64: given_set) */
#define FIRST_KEY 256  /* above every short option */

#define GLOBAL(name, argument, help, kind, member)                            \
    {                                                                         \
        name, argument, help, kind, offsetof(cli_context, member), 0, 0, NULL \
    }

const cli_option cli_global_options[] = {
    GLOBAL("redis", "URL", "URL of Redis (default: REEVE_REDIS, else embedded:, which starts a private server)",
           CLI_TEXT, redis),
    GLOBAL("redis-file", "FILE", "read the URL from the first line of FILE; other users must have no access to FILE",
           CLI_TEXT, redis_file),
    GLOBAL("ns", "NAME", "namespace of all keys (reeve)", CLI_TEXT, ns),
    GLOBAL("size-limit", "NAME=SIZE,...",
           "size limits for enqueued tasks, such as payload=64K,tags=8 (default: REEVE_SIZE_LIMITS)", CLI_TEXT,
           size_limit),
    GLOBAL("json", NULL, "print JSON, one object on each line", CLI_FLAG, json),
    GLOBAL("wide", NULL, "print all columns of tables, also where they do not fit the terminal", CLI_FLAG, wide),
    GLOBAL("help", NULL, "print help; after a command, the help of that command", CLI_FLAG, help),
    GLOBAL("version", NULL, "print the version", CLI_FLAG, version),
    {0},
};

/* The options that are understood at one place: the verb's, then the global ones. */
struct reader {
    const cli_option *option[OPTIONS_MAX];
    struct option known[OPTIONS_MAX + 1];
    size_t own;
    size_t count;
};

static void add_table(struct reader *reader, const cli_option *table)
{
    for (; table != NULL && table->name != NULL && reader->count < OPTIONS_MAX; table++) {
        struct option *known = &reader->known[reader->count];

        known->name = table->name;
        known->has_arg = table->argument == NULL     ? no_argument
                         : table->argument[0] == '[' ? optional_argument
                                                     : required_argument;
        known->val = FIRST_KEY + (int)reader->count;
        reader->option[reader->count++] = table;
    }
}

static void init_reader(struct reader *reader, const cli_option *own)
{
    memset(reader, 0, sizeof(*reader));
    add_table(reader, own);
    reader->own = reader->count;
    add_table(reader, cli_global_options);
    opterr = 0;
    optind = 0; /* glibc: begin anew */
}

/* Cuts the next name off a list such as "one, another or third"; NULL: the end, or something that is no name. */
static char *cut_name(char **rest)
{
    char *name = *rest + strspn(*rest, ", ");

    if (strncmp(name, "or ", 3) == 0) name += 3;
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz_-");
    bool ends = name[length] == '\0' || name[length] == ',' || strncmp(name + length, " or ", 4) == 0;
    if (length == 0 || !ends) return NULL;
    *rest = name + length + (name[length] != '\0');
    name[length] = '\0';
    return name;
}

int cli_bad_value(const cli_context *cli, const cli_option *option, const char *value, const char *should_be)
{
    char names[512], *rest = names, *name;
    rv_nearest nearest;

    rv_copy_text(names, sizeof(names), should_be);
    rv_nearest_init(&nearest, value);
    while ((name = cut_name(&rest)) != NULL) rv_nearest_try(&nearest, name);
    if (nearest.name == NULL) return cli_usage(cli, "--%s \"%.200s\": expected %s", option->name, value, should_be);
    return cli_usage(cli, "--%s \"%.200s\": expected %s; did you mean \"%s\"?", option->name, value, should_be,
                     nearest.name);
}

int cli_read_number(const cli_context *cli, const cli_option *option, const char *value, int64_t *ret)
{
    char range[128];

    if (rv_parse_int(value, option->min, option->max, ret)) return CLI_DONE;
    if (option->max == INT64_MAX)
        (void)snprintf(range, sizeof(range), "a whole number, at least %" PRId64, option->min);
    else
        (void)snprintf(range, sizeof(range), "a whole number from %" PRId64 " to %" PRId64, option->min, option->max);
    return cli_bad_value(cli, option, value, range);
}

int cli_read_duration(const cli_context *cli, const cli_option *option, const char *value, int64_t *ret)
{
    if (rv_parse_duration(value, ret) && *ret >= option->min) return CLI_DONE;
    return cli_bad_value(cli, option, value,
                         option->min > 0 ? "a duration above zero " RV_DURATION_EXAMPLES
                                         : "a duration " RV_DURATION_EXAMPLES);
}

int cli_read_time(const cli_context *cli, const cli_option *option, const char *value, int64_t *ret)
{
    if (rv_parse_time(value, ret) && *ret >= option->min) return CLI_DONE;
    return cli_bad_value(
        cli, option, value,
        option->min > 0
            ? "a time after 1970 such as 2026-11-21T09:00:00Z, or seconds since the epoch, up to the year 9999"
            : "a time such as 2026-11-21T09:00:00Z, or seconds since the epoch, up to the year 9999");
}

static int read_value(const cli_context *cli, const cli_option *option, void *options, char *value)
{
    void *place = (char *)options + option->at;
    int64_t number = 0;
    int status = CLI_DONE;

    switch (option->kind) {
    case CLI_FLAG:
        *(bool *)place = true;
        break;
    case CLI_TEXT:
        *(const char **)place = value;
        break;
    case CLI_INT:
        status = cli_read_number(cli, option, value, &number);
        if (status == CLI_DONE) *(int *)place = (int)number;
        break;
    case CLI_COUNT:
        status = cli_read_number(cli, option, value, place);
        break;
    case CLI_DURATION:
        status = cli_read_duration(cli, option, value, place);
        break;
    case CLI_TIME:
        status = cli_read_time(cli, option, value, place);
        break;
    case CLI_OTHER:
        status = option->read(cli, option, options, value);
        break;
    }
    return status;
}

/* argument: what getopt stumbled over; key: what it says of it. */
static int say_bad_option(const cli_context *cli, const struct reader *reader, const char *argument, int key)
{
    char name[64];
    rv_nearest nearest;

    if (key >= FIRST_KEY) return cli_usage(cli, "--%s takes no argument", reader->option[key - FIRST_KEY]->name);
    if (key != 0)
        return cli_usage(cli, "unknown option \"-%c\" (an argument that begins with '-' goes after \"--\")", key);
    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
    const char *states = cli_filter_missing(cli->verb, name + 2);
    if (states != NULL)
        return cli_usage(cli, "%s selects only %s tasks, and %s takes none of these", name, states, cli->verb->name);
    rv_nearest_init(&nearest, name + 2);
    for (size_t i = 0; i < reader->count; i++) rv_nearest_try(&nearest, reader->option[i]->name);
    if (nearest.name == NULL) return cli_usage(cli, "unknown option \"%s\"", name);
    return cli_usage(cli, "unknown option \"%s\"; did you mean \"--%s\"?", name, nearest.name);
}

static int read_option(cli_context *cli, const struct reader *reader, size_t at, void *options)
{
    bool own = at < reader->own;

    if (own) {
        cli->given++;
        cli->given_set |= (uint64_t)1 << at;
    }
    return read_value(cli, reader->option[at], own ? options : cli, optarg);
}

static int say_no_argument(const cli_context *cli, const cli_option *option)
{
    return cli_usage(cli, "--%s needs an argument: %s", option->name, option->argument);
}

/* Reads until the arguments are through. way is getopt's: "+:h" stops at the first that is no option. */
static int read_all(cli_context *cli, const struct reader *reader, int argc, char **argv, const char *way,
                    void *options)
{
    int key, status = CLI_DONE;

    while (status == CLI_DONE && (key = getopt_long(argc, argv, way, reader->known, NULL)) != -1) {
        if (key >= FIRST_KEY)
            status = read_option(cli, reader, (size_t)(key - FIRST_KEY), options);
        else if (key == 'h')
            cli->help = true;
        else if (key == ':')
            status = say_no_argument(cli, reader->option[optopt - FIRST_KEY]);
        else
            status = say_bad_option(cli, reader, argv[optind - 1], optopt);
    }
    return status;
}

int cli_read_globals(cli_context *cli, int argc, char **argv)
{
    struct reader reader;
    int status;

    init_reader(&reader, NULL);
    status = read_all(cli, &reader, argc, argv, "+:h", NULL);
    cli->argc = argc - optind;
    cli->argv = argv + optind;
    return status;
}

/* The synopsis names what is missing, so show it. */
static int check_count(const cli_context *cli)
{
    const cli_verb *verb = cli->verb;
    int line = (int)strcspn(verb->synopsis, "\n");

    if (cli->count >= verb->min && cli->count <= verb->max) return CLI_DONE;
    if (cli->count < verb->min)
        return cli_usage(cli, "an argument is missing: reeve %s %.*s", verb->name, line, verb->synopsis);
    return cli_usage(cli, "\"%.200s\" is one argument too many: reeve %s %.*s", cli->rest[verb->max], verb->name, line,
                     verb->synopsis);
}

bool cli_was_given(const cli_context *cli, const char *name)
{
    const cli_option *table = cli->verb->options;

    for (size_t i = 0; table != NULL && table[i].name != NULL && i < OPTIONS_MAX; i++) {
        if (strcmp(table[i].name, name) == 0) return (cli->given_set >> i & 1) != 0;
    }
    return false;
}

int cli_read_options(cli_context *cli, void *options)
{
    struct reader reader;
    int status;

    init_reader(&reader, cli->verb->options);
    status = read_all(cli, &reader, cli->argc, cli->argv, ":h", options);
    cli->rest = cli->argv + optind;
    cli->count = (size_t)(cli->argc - optind);
    return status != CLI_DONE || cli->help || cli->version ? status : check_count(cli);
}
