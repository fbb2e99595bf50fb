/*
 * layered.c - a plugin that stands one handler at a time, and has layers around it and around everything. What the
 * layers see goes into the result: "<" and ">" of the outer one, "(" and ")" of the one around layered:in.
 */
#include <reeve/plugin.h>
#include <stdio.h>
#include <string.h>

static reeve_outcome wrap(reeve_task *task, reeve_next *next, void *user)
{
    const char *signs = user;
    char text[128];
    reeve_outcome outcome = reeve_next_run(next, task);
    reeve_bytes result = reeve_task_result(task);

    if (outcome != REEVE_OUTCOME_DONE) return outcome;
    int length = snprintf(text, sizeof(text), "%c%.*s%c", signs[0], (int)result.length,
                          result.length > 0 ? (const char *)result.data : "", signs[1]);
    return reeve_task_done(task, text, (size_t)length);
}

static reeve_outcome in(reeve_task *task, void *user)
{
    const char *trace = reeve_task_meta(task, "traceparent");

    (void)user;
    return trace != NULL ? reeve_task_done(task, trace, strlen(trace)) : reeve_task_done(task, "in", 2);
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "layered:in", .run = in},
    {REEVE_HANDLER, .type = "layered:out", .run = in},
};

static const reeve_layer layers[] = {
    {REEVE_LAYER, .name = "outer", .run = wrap, .user = (void *)"<>", .summary = "around all"},
    {REEVE_LAYER, .name = "inner", .type = "layered:in", .run = wrap, .user = (void *)"()"},
};

REEVE_PLUGIN(.name = "layered", .handlers = handlers, .handler_count = 2, .concurrency = 1, .layers = layers,
             .layer_count = 2)
