/*
 * good.c - a plugin that uses every field. The test program that loads it may have a test_plugin_saw, which is told of
 * each hook that runs.
 */
#include <reeve/plugin.h>

REEVE_API extern void test_plugin_saw(const char *event) __attribute__((weak));

static int secret = 7;

static void tell(const char *event)
{
    if (test_plugin_saw != NULL) test_plugin_saw(event);
}

static int load(void)
{
    tell("load");
    return 0;
}

static void unload(void)
{
    tell("unload");
}

static int thread_start(void *user, void **ret_state)
{
    tell("thread_start");
    *ret_state = user;
    return 0;
}

static int thread_start_fails(void *user, void **ret_state)
{
    (void)user;
    (void)ret_state;
    return 5;
}

static void thread_stop(void *user, void *state)
{
    tell(state == user ? "thread_stop" : "thread_stop with a wrong state");
}

static reeve_outcome one(reeve_task *task, void *user)
{
    tell("run");
    if (user != &secret) return reeve_task_fail(task, "user", "another user pointer");
    if (reeve_task_thread_state(task) != user) return reeve_task_fail(task, "state", "another thread state");
    if (reeve_task_progress(task, 50, "half way") != REEVE_OK) return reeve_task_fail(task, "progress", "refused");
    return reeve_task_done(task, reeve_task_handle(task), 4);
}

static reeve_outcome silent(reeve_task *task, void *user)
{
    (void)task;
    (void)user;
    return REEVE_OUTCOME_DONE;
}

static const reeve_handler handlers[] = {
    {
        REEVE_HANDLER,
        .type = "good:one",
        .run = one,
        .user = &secret,
        .summary = "the first",
        .attempts = 7,
        .max_crashes = 2,
        .timeout_ms = 1500,
        .backoff = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 250, .cap_ms = 9000, .jitter = -1},
        .thread_start = thread_start,
        .thread_stop = thread_stop,
    },
    {REEVE_HANDLER, .type = "good/silent", .run = silent, .summary = "calls no outcome function"},
    {REEVE_HANDLER, .type = "good.setup", .run = silent, .thread_start = thread_start_fails,
     .thread_stop = thread_stop},
};

REEVE_PLUGIN(.name = "good", .version = "1.2", .summary = "all is well", .handlers = handlers, .handler_count = 3,
             .concurrency = 4, .load = load, .unload = unload)
