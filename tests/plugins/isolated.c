/* isolated.c - handlers for a pool with process isolation: one makes all calls, one does not stop, one says where it is. */
#include <reeve/depend.h>
#include <reeve/plugin.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs twice: the first attempt leaves a checkpoint. */
static reeve_outcome calls(reeve_task *task, void *user)
{
    reeve_bytes left;
    char next[REEVE_ID_MAX], result[200];
    (void)user;
    if (reeve_task_last_checkpoint(task, &left) != REEVE_OK) return reeve_task_fail(task, "call", "last_checkpoint");
    if (left.data == NULL) {
        if (reeve_task_checkpoint(task, "half", 4) != REEVE_OK) return reeve_task_fail(task, "call", "checkpoint");
        return reeve_task_retry(task, 0, "again", "half is done");
    }
    const reeve_task_spec spec = {.size = sizeof(spec),
                                  .queue = reeve_task_queue(task),
                                  .type = "where",
                                  .id = "chained",
                                  .payload = {"a\nb", 3}};
    if (reeve_task_progress(task, 50, "half way") != REEVE_OK) return reeve_task_fail(task, "call", "progress");
    if (reeve_task_log(task, "line %d", 1) != REEVE_OK) return reeve_task_fail(task, "call", "log");
    if (reeve_task_heartbeat(task) != REEVE_OK) return reeve_task_fail(task, "call", "heartbeat");
    if (reeve_task_extend(task, 60000) != REEVE_OK) return reeve_task_fail(task, "call", "extend");
    if (reeve_task_pause_for(task, "nobody", 10) != REEVE_OK) return reeve_task_fail(task, "call", "pause_for");
    if (reeve_task_chain(task, &spec, next) != REEVE_OK)
        return reeve_task_fail(task, "call", "chain: %s", reeve_task_call_error(task));
    const char *tenant = reeve_task_meta(task, "tenant");
    snprintf(result, sizeof(result), "%.4s attempt %u tenant %s group %s chained %s", (const char *)left.data,
             reeve_task_attempt(task), tenant != NULL ? tenant : "-", reeve_task_group(task), next);
    return reeve_task_done(task, result, strlen(result));
}

/* The results of its parents. */
static reeve_outcome join(reeve_task *task, void *user)
{
    const reeve_task_parent *parents;
    size_t count, length = 0;
    char result[2000];
    (void)user;
    if (reeve_task_parents(task, &parents, &count) != REEVE_OK) return reeve_task_fail(task, "call", "parents");
    for (size_t i = 0; i < count; i++) {
        reeve_bytes one;
        if (reeve_task_parent_result(task, parents[i].handle, &one) != REEVE_OK)
            return reeve_task_fail(task, "call", "parent_result");
        length += (size_t)snprintf(result + length, sizeof(result) - length, "%s %s %.*s;", parents[i].handle,
                                   parents[i].ended, (int)one.length, one.data != NULL ? (const char *)one.data : "");
    }
    return reeve_task_done(task, result, length);
}

/* Its process; and the payload's length. */
static reeve_outcome where(reeve_task *task, void *user)
{
    char result[60];
    (void)user;
    snprintf(result, sizeof(result), "%d %zu", (int)getpid(), reeve_task_payload(task).length);
    return reeve_task_done(task, result, strlen(result));
}

static reeve_outcome large(reeve_task *task, void *user)
{
    static char bytes[3000000];
    (void)user;
    memset(bytes, 'x', sizeof(bytes));
    return reeve_task_done(task, bytes, sizeof(bytes));
}

/* It has a child, and both stay whatever is asked. */
static reeve_outcome stubborn(reeve_task *task, void *user)
{
    (void)user;
    signal(SIGTERM, SIG_IGN);
    if (fork() == 0)
        for (;;) pause();
    (void)reeve_task_progress(task, 1, "it is there");
    while (reeve_task_now_ms(task) > 0) pause();
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome leave(reeve_task *task, void *user)
{
    (void)task;
    (void)user;
    _exit(3);
}

static reeve_outcome returned_child(reeve_task *task, void *user)
{
    int status = -1;
    pid_t child = fork();
    (void)user;
    if (child == 0) return reeve_task_fail(task, "child", "a child returned");
    (void)waitpid(child, &status, 0);
    return WIFEXITED(status) ? reeve_task_done(task, NULL, 0) : reeve_task_fail(task, "child", "%d", status);
}

/* Of many; one with a payload of five bytes ends its process. */
static void many(reeve_task *const *tasks, size_t count, void *user)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        reeve_bytes payload = reeve_task_payload(tasks[i]);
        if (payload.length == 5) abort();
        (void)reeve_task_done(tasks[i], payload.data, payload.length);
    }
}

/* Private memory that it gets, in MiB, at most 1000. */
static reeve_outcome eat(reeve_task *task, void *user)
{
    enum { MIB = 1 << 20, MOST = 1000 };
    static void *blocks[MOST];
    char result[20];
    int count = 0;
    (void)user;
    while (count < MOST && (blocks[count] = malloc(MIB)) != NULL) count++;
    for (int i = 0; i < count; i++) free(blocks[i]);
    snprintf(result, sizeof(result), "%d", count);
    return reeve_task_done(task, result, strlen(result));
}

static reeve_outcome burn(reeve_task *task, void *user)
{
    (void)user;
    while (reeve_task_now_ms(task) > 0) continue;
    return reeve_task_done(task, NULL, 0);
}

/* Writes a file where it is; its result is where that is. */
static reeve_outcome fill(reeve_task *task, void *user)
{
    char here[4096];
    const char *temporary = getenv("TMPDIR");
    FILE *file = fopen("file", "w");
    (void)user;
    for (int i = 0; file != NULL && i < 100000; i++) (void)fputs("ten bytes\n", file);
    if (file == NULL || fclose(file) != 0) return reeve_task_fail(task, "file", "not written");
    if (getcwd(here, sizeof(here)) == NULL || temporary == NULL || strcmp(here, temporary) != 0)
        return reeve_task_fail(task, "directory", "it is not in TMPDIR");
    return reeve_task_done(task, here, strlen(here));
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "calls", .run = calls},
    {REEVE_HANDLER, .type = "join", .run = join},
    {REEVE_HANDLER, .type = "where", .run = where},
    {REEVE_HANDLER, .type = "large", .run = large},
    {REEVE_HANDLER, .type = "stubborn", .run = stubborn},
    {REEVE_HANDLER, .type = "leave", .run = leave},
    {REEVE_HANDLER, .type = "child", .run = returned_child},
    {REEVE_HANDLER, .type = "many", .run_batch = many},
    {REEVE_HANDLER, .type = "eat", .run = eat},
    {REEVE_HANDLER, .type = "burn", .run = burn},
    {REEVE_HANDLER, .type = "fill", .run = fill},
};

REEVE_PLUGIN(.name = "isolated", .version = "1", .handlers = handlers,
             .handler_count = sizeof(handlers) / sizeof(handlers[0]))
