/*
 * verb_signal.c - the verbs that tell running workers what to do: signal, threads, queues-of, log-level.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ask_workers.h"
#include "base/text.h"
#include "verbs.h"

#define REQUEST_MAX 500
#define THREADS_MAX 1024

#define WAIT_ROW                                                                                                   \
    {                                                                                                              \
        "wait", "DURATION", "how long to wait for answers (5s)", CLI_DURATION, offsetof(cli_asked, wait_ms), 0, 0, \
            NULL                                                                                                   \
    }

static const cli_asked defaults = {.wait_ms = CLI_ASK_WAIT_MS};

/* Whether text is one of the words, which NULL ends. */
static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(text, *words) == 0) return true;
    return false;
}

/* ---- signal ---------------------------------------------------------------------------------------------------- */

static const cli_option signal_table[] = {
    {"queue", "QUEUE", "all workers that serve this queue, in place of WORKER", CLI_TEXT, offsetof(cli_asked, queue), 0,
     0, NULL},
    WAIT_ROW,
    {0},
};

static int signal_workers(cli_context *cli, void *options)
{
    static const char *const known[] = {"quiet", "resume", "stop", "reload", "rotate-logs", NULL};
    cli_asked *asked = options;
    size_t expected = asked->queue != NULL ? 1 : 2;

    if (cli->count != expected)
        return cli_usage(cli, "a worker (or --queue), and quiet, resume, stop, reload or rotate-logs are expected");
    const char *request = cli->rest[expected - 1];
    if (asked->queue == NULL) asked->worker = cli->rest[0];
    if (!is_one_of(request, known))
        return cli_usage(cli, "\"%.100s\": quiet, resume, stop, reload or rotate-logs is expected", request);
    int status = asked->queue != NULL ? cli_queue_argument(cli, asked->queue) : CLI_DONE;
    return status == CLI_DONE ? cli_ask_workers(cli, asked, request) : status;
}

const cli_verb cli_verb_signal = {
    .name = "signal",
    .section = CLI_SERVERS,
    .synopsis = "WORKER|all|--queue QUEUE quiet|resume|stop|reload|rotate-logs",
    .summary = "Makes running workers lease no tasks, lease again, stop, or reload",
    .options = signal_table,
    .options_size = sizeof(cli_asked),
    .defaults = &defaults,
    .min = 1,
    .max = 2,
    .run = signal_workers,
    .notes = CLI_ASK_NOTE
    "\n"
    "  quiet        lease no more tasks; running tasks continue\n"
    "  resume       lease tasks again\n"
    "  stop         answer, and then stop, as after the signal TERM\n"
    "  reload       read the configuration file again, as after the signal HUP. The answer names each change, or\n"
    "               the error in the file\n"
    "  rotate-logs  open the log file (worker.log.file) again\n"
    "\n"
    "A program that embeds a worker handles stop and rotate-logs itself, or refuses them. It can also handle reload;\n"
    "otherwise the worker does.\n"
    "\n"
    "Examples:\n"
    "  reeve signal all quiet\n"
    "  reeve signal media-1 stop --wait 20s\n"
    "  reeve signal --queue thumbs resume\n",
    .exits = CLI_ASK_EXITS,
};

/* ---- threads --------------------------------------------------------------------------------------------------- */

static const cli_option wait_table[] = {WAIT_ROW, {0}};

static int check_pool(const cli_context *cli, const char *pool)
{
    if (pool[0] != '\0' && strlen(pool) <= 64 && strpbrk(pool, " \t\r\n") == NULL) return CLI_DONE;
    return cli_usage(cli, "\"%.100s\": the name of a pool is expected", pool);
}

/* "8" or "2-32" */
static bool read_threads(const char *text, int64_t *ret_min, int64_t *ret_max)
{
    char first[16];
    const char *dash = strchr(text, '-');

    if (dash == NULL) return rv_parse_int(text, 1, THREADS_MAX, ret_min) && rv_parse_int(text, 1, THREADS_MAX, ret_max);
    if ((size_t)(dash - text) >= sizeof(first)) return false;
    memcpy(first, text, (size_t)(dash - text));
    first[dash - text] = '\0';
    return rv_parse_int(first, 1, THREADS_MAX, ret_min) && rv_parse_int(dash + 1, *ret_min, THREADS_MAX, ret_max);
}

static int set_threads(cli_context *cli, void *options)
{
    cli_asked *asked = options;
    char request[REQUEST_MAX];
    int64_t min, max;
    int status = check_pool(cli, cli->rest[1]);

    asked->worker = cli->rest[0];
    if (status != CLI_DONE) return status;
    if (!read_threads(cli->rest[2], &min, &max))
        return cli_usage(cli,
                         "\"%.100s\": a number of threads from 1 to %d is expected, or MIN-MAX, the lower number first",
                         cli->rest[2], THREADS_MAX);
    (void)snprintf(request, sizeof(request), "threads %s %" PRId64 " %" PRId64, cli->rest[1], min, max);
    return cli_ask_workers(cli, asked, request);
}

const cli_verb cli_verb_threads = {
    .name = "threads",
    .section = CLI_SERVERS,
    .synopsis = "WORKER POOL N|MIN-MAX",
    .summary = "Sets the number of threads of a pool of running workers",
    .options = wait_table,
    .options_size = sizeof(cli_asked),
    .defaults = &defaults,
    .min = 3,
    .max = 3,
    .run = set_threads,
    .notes = CLI_ASK_NOTE
    "\n"
    "N is a fixed number. With MIN-MAX the number follows the work: it grows while all threads are busy and tasks\n"
    "wait, and shrinks when threads are idle. Running tasks continue: a thread that is no longer needed ends when\n"
    "its task has ended. The change lasts until the worker ends, or until a reload changes this pool. `reeve\n"
    "workers --pools` shows pools and threads.\n"
    "\n"
    "Examples:\n"
    "  reeve threads media-1 fast 16\n"
    "  reeve threads media-1 media 2-32\n"
    "  reeve threads all media 4\n",
    .exits = CLI_ASK_EXITS,
};

/* ---- queues-of ------------------------------------------------------------------------------------------------- */

typedef struct queues_options {
    cli_asked asked;
    int weight;
} queues_options;

static const queues_options queues_defaults = {.asked = {.wait_ms = CLI_ASK_WAIT_MS}, .weight = 1};

static const cli_option queues_table[] = {
    {"weight", "N", "with add: the weight of the queue in a pool of the order \"weighted\", 1 to 1000 (1)", CLI_INT,
     offsetof(queues_options, weight), 1, 1000, NULL},
    WAIT_ROW,
    {0},
};

static int change_queues(cli_context *cli, void *options)
{
    static const char *const known[] = {"add", "remove", NULL};
    queues_options *o = options;
    char request[REQUEST_MAX];
    const char *how = cli->rest[2];
    int status = check_pool(cli, cli->rest[1]);

    o->asked.worker = cli->rest[0];
    if (status == CLI_DONE && !is_one_of(how, known))
        status = cli_usage(cli, "\"%.100s\": add or remove is expected", how);
    if (status == CLI_DONE) status = cli_queue_argument(cli, cli->rest[3]);
    if (status != CLI_DONE) return status;
    if (strcmp(how, "add") == 0)
        (void)snprintf(request, sizeof(request), "add-queue %s %s %d", cli->rest[1], cli->rest[3], o->weight);
    else
        (void)snprintf(request, sizeof(request), "remove-queue %s %s", cli->rest[1], cli->rest[3]);
    return cli_ask_workers(cli, &o->asked, request);
}

const cli_verb cli_verb_queues_of = {
    .name = "queues-of",
    .section = CLI_SERVERS,
    .synopsis = "WORKER POOL add|remove QUEUE",
    .summary = "Adds a queue to a pool of running workers, or removes one",
    .options = queues_table,
    .options_size = sizeof(queues_options),
    .defaults = &queues_defaults,
    .min = 4,
    .max = 4,
    .run = change_queues,
    .notes = CLI_ASK_NOTE
    "\n"
    "A new queue is added at the end of the pool's list. Running tasks continue. The change lasts until the worker\n"
    "ends.\n"
    "\n"
    "Examples:\n"
    "  reeve queues-of media-1 fast add urgent\n"
    "  reeve queues-of all fast remove urgent\n",
    .exits = CLI_ASK_EXITS,
};

/* ---- log-level ------------------------------------------------------------------------------------------------- */

static int set_log_level(cli_context *cli, void *options)
{
    static const char *const known[] = {"debug", "info", "warn", "error", "off", NULL};
    cli_asked *asked = options;
    char request[REQUEST_MAX];

    asked->worker = cli->rest[0];
    if (!is_one_of(cli->rest[1], known))
        return cli_usage(cli, "\"%.100s\": debug, info, warn, error or off is expected", cli->rest[1]);
    (void)snprintf(request, sizeof(request), "log-level %s", cli->rest[1]);
    return cli_ask_workers(cli, asked, request);
}

const cli_verb cli_verb_log_level = {
    .name = "log-level",
    .section = CLI_SERVERS,
    .synopsis = "WORKER debug|info|warn|error|off",
    .summary = "Sets the level of the log of running workers",
    .options = wait_table,
    .options_size = sizeof(cli_asked),
    .defaults = &defaults,
    .min = 2,
    .max = 2,
    .run = set_log_level,
    .notes = CLI_ASK_NOTE "\n"
                          "The level is that of the whole process. It lasts until the worker ends.\n"
                          "\n"
                          "Example:\n"
                          "  reeve log-level media-1 debug\n",
    .exits = CLI_ASK_EXITS,
};
