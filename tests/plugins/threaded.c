/*
 * threaded.c - a plugin whose load hook starts a thread, which waits until the plugin is unloaded.
 */
#include <pthread.h>
#include <reeve/plugin.h>
#include <unistd.h>

static pthread_t thread;

static void *wait_for_end(void *nothing)
{
    (void)nothing;
    for (;;) pause();
    return NULL;
}

static int load(void)
{
    return pthread_create(&thread, NULL, wait_for_end, NULL);
}

static void unload(void)
{
    (void)pthread_cancel(thread);
    (void)pthread_join(thread, NULL);
}

static reeve_outcome run(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

static const reeve_handler handlers[] = {{REEVE_HANDLER, .type = "threaded", .run = run}};

REEVE_PLUGIN(.name = "threaded", .version = "1.0", .handlers = handlers, .handler_count = 1, .load = load,
             .unload = unload)
