/*
 * minimal_plugin.c - the smallest plugin: one type, "greet", whose result is a greeting to whoever the payload names.
 *
 *     cc -std=c11 -shared -fPIC -o minimal_plugin.so minimal_plugin.c $(pkg-config --cflags reeve)
 *     reeve run ./minimal_plugin.so greet World                           (without Redis)
 *
 * and in reeve-worker's configuration: plugins = [ "/path/of/minimal_plugin.so" ];
 */
#include <reeve/plugin.h>
#include <stdio.h>

static reeve_outcome greet(reeve_task *task, void *user)
{
    reeve_bytes name = reeve_task_payload(task); /* bytes of any length, by anyone: check before use */
    char words[128];
    int length;

    (void)user;
    if (name.length == 0 || name.length > 100) {
        /* trying again would not help: dead at once, and listed under its kind */
        return reeve_task_fail(task, "payload", "expected a name of 1 to 100 bytes, not %zu", name.length);
    }
    length = snprintf(words, sizeof(words), "Good day, %.*s!", (int)name.length, (const char *)name.data);
    return reeve_task_done(task, words, (size_t)length);
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "greet", .run = greet, .summary = "greets whom the payload names"},
};

/* One at a time is the safe promise; leave concurrency out (0) when the handlers may run on any number of threads. */
REEVE_PLUGIN(.name = "minimal", .version = "1.0", .summary = "the smallest plugin", .handlers = handlers,
             .handler_count = 1, .concurrency = 1)
