/*
 * release.c - the plugin of which each release leaves a compiled copy (<version>-x86_64.so, made by scripts/abi
 * record), so that later versions are tested with what was built for earlier ones. It uses what plugins use: handlers
 * with every hook, layers, and calls that take structs. What it says of itself is what st_abi_plugins expects of each
 * copy.
 */
#include <reeve/reeve.h>
#include <stdio.h>
#include <string.h>

static char user[] = "user", state_of_thread[] = "state";

static int thread_start(void *given, void **ret_state)
{
    *ret_state = state_of_thread;
    return given == user ? 0 : 1;
}

static void thread_stop(void *given, void *state)
{
    (void)given;
    (void)state;
}

/* Its own words, and whether what it was given is what it gave. */
static reeve_outcome tell(reeve_task *task, void *given)
{
    char text[200];
    reeve_bytes in = reeve_task_payload(task);
    bool good = given == user && reeve_task_thread_state(task) == state_of_thread;

    (void)reeve_task_progress(task, 50, "half");
    (void)snprintf(text, sizeof(text), "%s:%.*s:%u", good ? "good" : "bad", (int)in.length, (const char *)in.data,
                   reeve_task_attempt(task));
    return reeve_task_done(task, text, strlen(text));
}

/* Hands on a task of its own type, by a struct that does not say its size. */
static reeve_outcome chain(reeve_task *task, void *given)
{
    reeve_task_spec next = {
        .queue = reeve_task_queue(task), .type = "release:tell", .id = "next", .payload = {"handed", 6}};

    (void)given;
    if (reeve_task_chain(task, &next, NULL) == REEVE_OK) return reeve_task_done(task, "chained", 7);
    return reeve_task_fail(task, "release", "%s", reeve_task_call_error(task));
}

static reeve_outcome fail(reeve_task *task, void *given)
{
    (void)given;
    return reeve_task_fail(task, "release", "on purpose");
}

static reeve_outcome around(reeve_task *task, reeve_next *next, void *given)
{
    reeve_outcome outcome = reeve_next_run(next, task);
    char text[220];
    reeve_bytes result = reeve_task_result(task);

    (void)given;
    if (outcome != REEVE_OUTCOME_DONE) return outcome;
    (void)snprintf(text, sizeof(text), "[%.*s]", (int)result.length, (const char *)result.data);
    return reeve_task_done(task, text, strlen(text));
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "release:tell", .run = tell, .user = user, .summary = "tells", .attempts = 7,
     .timeout_ms = 60000, .backoff = {.shape = REEVE_BACKOFF_FIXED, .base_ms = 1000}, .thread_start = thread_start,
     .thread_stop = thread_stop},
    {REEVE_HANDLER, .type = "release:chain", .run = chain},
    {REEVE_HANDLER, .type = "release:fail", .run = fail},
};

static const reeve_layer layers[] = {{REEVE_LAYER, .name = "around", .type = "release:tell", .run = around}};

REEVE_PLUGIN(.name = "release", .version = REEVE_VERSION, .handlers = handlers, .handler_count = 3, .concurrency = 4,
             .layers = layers, .layer_count = 1)
