/*
 * narrow.c - a plugin that stands one handler at once. Its tasks wait until narrow_open, and count themselves in
 * narrow_begun.
 */
#include <reeve/plugin.h>
#include <stdatomic.h>
#include <time.h>

REEVE_API extern atomic_uint narrow_begun;
REEVE_API extern atomic_bool narrow_open;
atomic_uint narrow_begun;
atomic_bool narrow_open;

static void wait_until_open(void)
{
    const struct timespec nap = {0, 1000000};

    atomic_fetch_add(&narrow_begun, 1);
    while (!atomic_load(&narrow_open)) nanosleep(&nap, NULL);
}

static reeve_outcome one(reeve_task *task, void *user)
{
    (void)user;
    wait_until_open();
    return reeve_task_done(task, NULL, 0);
}

static void all(reeve_task *const *tasks, size_t count, void *user)
{
    (void)user;
    wait_until_open();
    for (size_t i = 0; i < count; i++) (void)reeve_task_done(tasks[i], NULL, 0);
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "one", .run = one},
    {REEVE_HANDLER, .type = "all", .run_batch = all, .batch_size = 4},
};

REEVE_PLUGIN(.name = "narrow", .handlers = handlers, .handler_count = 2, .concurrency = 1)
