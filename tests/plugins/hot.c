/*
 * hot.c - a plugin that is replaced while it runs, in two versions. Its hooks and its handler write lines to the file
 * that HOT_LOG names: "load 1", "unload 1", "start 1" and "stop 1" of threads, "run ID 1" of tasks.
 */
#include <reeve/plugin.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void note(const char *what, const char *id)
{
    const char *path = getenv("HOT_LOG");
    char line[128];
    int fd = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

    if (fd < 0) return;
    int length =
        snprintf(line, sizeof(line), "%s%s%s " VERSION "\n", what, id != NULL ? " " : "", id != NULL ? id : "");
    if (write(fd, line, (size_t)length) != length) abort();
    close(fd);
}

static const char *suffix; /* of the results of `hot` */

static reeve_outcome run(reeve_task *task, void *user)
{
    char result[64];

    (void)user;
    note("run", reeve_task_id(task));
    int length = snprintf(result, sizeof(result), "\"" VERSION "%s\"", suffix);
    return reeve_task_done(task, result, (size_t)length);
}

/* Until the file that its payload names is there. */
static reeve_outcome hold(reeve_task *task, void *user)
{
    char path[256];
    reeve_bytes payload = reeve_task_payload(task);
    const struct timespec moment = {.tv_nsec = 5000000};

    (void)user;
    (void)snprintf(path, sizeof(path), "%.*s", (int)payload.length, (const char *)payload.data);
    note("run", reeve_task_id(task));
    while (access(path, F_OK) != 0 && !reeve_task_should_stop(task)) (void)nanosleep(&moment, NULL);
    return reeve_task_done(task, "\"" VERSION "\"", strlen("\"" VERSION "\""));
}

static int start(void *user, void **ret_state)
{
    (void)user;
    *ret_state = NULL;
    note("start", NULL);
    return 0;
}

static void stop(void *user, void *state)
{
    (void)user;
    (void)state;
    note("stop", NULL);
}

static int load(const reeve_options *options)
{
    suffix = reeve_option_text(options, "suffix");
    note("load", NULL);
    return access("hot-refuses", F_OK) == 0;
}

static void unload(void)
{
    note("unload", NULL);
}

/* The layer shows that layers are replaced with the handlers. */
static reeve_outcome around(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    (void)reeve_task_log(task, "layer " VERSION);
    return reeve_next_run(next, task);
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "hot", .run = run, .thread_start = start, .thread_stop = stop},
    {REEVE_HANDLER, .type = "hold", .run = hold},
#ifdef HOT_MORE
    {REEVE_HANDLER, .type = "more", .run = run},
#endif
};
static const reeve_layer layers[] = {{REEVE_LAYER, .name = "around", .type = "hold", .run = around}};

static const reeve_option options[] = {{REEVE_OPTION, .name = "suffix", .otherwise = ""}};

REEVE_PLUGIN(.name = "hot", .version = VERSION, .handlers = handlers,
             .handler_count = sizeof(handlers) / sizeof(handlers[0]), .load_with_options = load, .options = options,
             .option_count = 1, .unload = unload, .layers = layers, .layer_count = 1)
