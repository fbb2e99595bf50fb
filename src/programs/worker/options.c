#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

enum {
    OPTION_CHECK = 256,
    OPTION_REDIS,
    OPTION_REDIS_FILE,
    OPTION_DUMP,
    OPTION_JSON,
    OPTION_HEALTH,
    OPTION_HELP_CONFIG,
    OPTION_VERSION,
    OPTION_SUPERVISE,
    OPTION_NO_SUPERVISE,
    OPTION_DIFF
};

static const struct option long_options[] = {{"config", required_argument, NULL, 'c'},
                                             {"check", no_argument, NULL, OPTION_CHECK},
                                             {"diff", no_argument, NULL, OPTION_DIFF},
                                             {"redis", required_argument, NULL, OPTION_REDIS},
                                             {"redis-file", required_argument, NULL, OPTION_REDIS_FILE},
                                             {"dump-plugin", required_argument, NULL, OPTION_DUMP},
                                             {"json", no_argument, NULL, OPTION_JSON},
                                             {"health", required_argument, NULL, OPTION_HEALTH},
                                             {"help-config", optional_argument, NULL, OPTION_HELP_CONFIG},
                                             {"version", no_argument, NULL, OPTION_VERSION},
                                             {"supervise", no_argument, NULL, OPTION_SUPERVISE},
                                             {"no-supervise", no_argument, NULL, OPTION_NO_SUPERVISE},
                                             {"help", no_argument, NULL, 'h'},
                                             {NULL, 0, NULL, 0}};

void host_print_help(void)
{
    (void)printf(
        "usage: reeve-worker -c FILE [--redis URL] [--check [--diff]]\n"
        "       reeve-worker --dump-plugin FILE.so [--json]\n"
        "       reeve-worker --health SOCKET\n"
        "\n"
        "Runs the tasks of queues on Redis with the handlers of plugins, until it is stopped.\n"
        "\n"
        "Options:\n"
        "  -c, --config FILE     configuration file\n"
        "  --redis URL           URL of Redis; has precedence over REEVE_REDIS and the configuration\n"
        "  --redis-file FILE     read the URL from the first line of FILE; other users must have no access to FILE\n"
        "  --supervise           run the worker as the child of a supervising process, whatever the setting\n"
        "                        worker.supervise says (default: true). When the worker crashes, the supervisor\n"
        "                        settles the tasks that had finished, and starts a new worker\n"
        "  --no-supervise        run the worker in this process\n"
        "  --check               check the configuration and the plugins, without Redis, and exit\n"
        "  --diff                with --check: connect to Redis, and print what a start or a reload would change\n"
        "                        there and in running workers of the same name\n"
        "  --dump-plugin FILE    print a description of a plugin and exit. FILE is a path, or a name in the plugin\n"
        "                        directory\n"
        "  --json                with --dump-plugin: print JSON\n"
        "  --health SOCKET       ask the worker whose setting worker.health is SOCKET whether it is ready, print its\n"
        "                        answer, and exit: 0 ready, 1 not ready, 3 no answer\n"
        "  --help-config         print a description of all settings of the configuration and exit\n"
        "  --help-config=markdown  the same, as a document\n"
        "  --version             print the version and exit\n"
        "  -h, --help            print this help and exit\n"
        "\n"
        "Signals:\n"
        "  TERM, INT             stop: lease no more tasks, and wait for running handlers, for at most the setting\n"
        "                        worker.drain. Then return the tasks that still run to their queues. A second signal\n"
        "                        ends the wait.\n"
        "  TSTP                  lease no more tasks, and finish the running tasks\n"
        "  CONT                  undo TSTP: lease tasks again\n"
        "  HUP                   read the configuration again, and apply what can change while the worker runs\n"
        "  USR2                  open the log file (worker.log.file) again\n"
        "  USR1                  log the totals since the start\n"
        "  QUIT                  log the stacks of all threads\n"
        "\n"
        "If Redis cannot be reached, the worker waits for it.\n"
        "\n"
        "Exit status: 0 stopped by a signal, 1 cannot start, 2 wrong usage or configuration, 70 a plugin or handler\n"
        "called exit, or a supervised worker died while it was stopping, 71 a supervised worker died three times\n"
        "before it could take a task.\n");
}

static bool usage(const char *words, const char *what)
{
    (void)fprintf(stderr, "reeve-worker: %s%s\nTry reeve-worker --help.\n", words, what);
    return false;
}

/* What getopt_long found wrong: an option that it does not know, or one without its argument. */
static bool unknown_option(const char *argument)
{
    char name[64], words[160];
    rv_nearest nearest;

    (void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
    rv_nearest_init(&nearest, name + strspn(name, "-"));
    for (const struct option *option = long_options; option->name != NULL; option++)
        rv_nearest_try(&nearest, option->name);
    if (nearest.name == NULL) return usage("unknown option ", name);
    (void)snprintf(words, sizeof(words), "%s; did you mean --%s?", name, nearest.name);
    return usage("unknown option ", words);
}

static bool wrong_option(int found, char **argv)
{
    char letter[3] = {'-', (char)optopt, '\0'};
    bool is_letter = optopt > 0 && optopt < OPTION_CHECK;

    if (found == ':') return usage("no argument after ", is_letter ? letter : argv[optind - 1]);
    return is_letter ? usage("unknown option ", letter) : unknown_option(argv[optind - 1]);
}

static bool choose(host_options *options, host_action action)
{
    if (options->action != HOST_RUN && options->action != action) return usage("one thing at a time", "");
    options->action = action;
    return true;
}

static bool take(host_options *options, int found, char **argv)
{
    bool markdown = optarg != NULL && strcmp(optarg, "markdown") == 0;

    switch (found) {
    case 'c':
        options->config = optarg;
        return true;
    case OPTION_REDIS:
        options->redis = optarg;
        return true;
    case OPTION_REDIS_FILE:
        options->redis_file = optarg;
        return true;
    case OPTION_JSON:
        options->json = true;
        return true;
    case OPTION_SUPERVISE:
    case OPTION_NO_SUPERVISE:
        options->supervise = found == OPTION_SUPERVISE ? 1 : -1;
        return true;
    case OPTION_DIFF:
        options->diff = true;
        return true;
    case OPTION_CHECK:
        return choose(options, HOST_CHECK);
    case OPTION_DUMP:
        options->plugin = optarg;
        return choose(options, HOST_DUMP_PLUGIN);
    case OPTION_HEALTH:
        options->health = optarg;
        return choose(options, HOST_HEALTH);
    case OPTION_VERSION:
        return choose(options, HOST_VERSION);
    case 'h':
        return choose(options, HOST_HELP);
    case OPTION_HELP_CONFIG:
        if (optarg != NULL && !markdown) return usage("--help-config knows \"markdown\", not ", optarg);
        return choose(options, markdown ? HOST_HELP_CONFIG_MARKDOWN : HOST_HELP_CONFIG);
    default:
        return wrong_option(found, argv);
    }
}

bool host_options_read(host_options *ret, int argc, char **argv)
{
    int found;

    *ret = (host_options){.action = HOST_RUN};
    opterr = 0;
    while ((found = getopt_long(argc, argv, ":c:h", long_options, NULL)) != -1) {
        if (!take(ret, found, argv)) return false;
    }
    if (optind < argc) return usage("unexpected argument ", argv[optind]);
    if ((ret->action == HOST_RUN || ret->action == HOST_CHECK) && ret->config == NULL)
        return usage("no configuration: -c FILE", "");
    if (ret->diff && ret->action != HOST_CHECK) return usage("--diff goes with --check", "");
    if (ret->json && ret->action != HOST_DUMP_PLUGIN) return usage("--json goes with --dump-plugin", "");
    if (ret->redis != NULL && ret->redis_file != NULL) return usage("either --redis or --redis-file", "");
    if (ret->redis != NULL && *ret->redis == '\0') return usage("--redis is empty", "");
    return true;
}
