/*
 * new_abi1.c - a plugin of a later reeve with the same ABI: its structs have fields behind those that this version
 * knows, and it leaves them zero. With LATER_HANDLER, LATER_LAYER or LATER_PLUGIN it sets some of that kind: what it
 * relies on is not there, and it must not load.
 */
#include <reeve/plugin.h>
#include <string.h>

#if defined(LATER_HANDLER)
#define HANDLER_TAIL "x", "y", "z"
#else
#define HANDLER_TAIL NULL
#endif
#if defined(LATER_LAYER)
#define LAYER_TAIL NULL, "y"
#else
#define LAYER_TAIL NULL
#endif
#if defined(LATER_PLUGIN)
#define PLUGIN_TAIL NULL, NULL, "z"
#else
#define PLUGIN_TAIL NULL
#endif

struct later_handler {
    reeve_handler known;
    const char *unknown[3];
};

struct later_plugin {
    reeve_plugin known;
    const char *unknown[5];
};

struct later_layer {
    reeve_layer known;
    const char *unknown[2];
};

static reeve_outcome run(reeve_task *task, void *user)
{
    return reeve_task_done(task, user, 1);
}

static char a = 'a', b = 'b';

static const struct later_handler handlers[] = {
    {{.size = sizeof(struct later_handler), .type = "new:a", .run = run, .user = &a}, {HANDLER_TAIL}},
    {{.size = sizeof(struct later_handler), .type = "new:b", .run = run, .user = &b}, {HANDLER_TAIL}},
};

/* Puts the letter of its user behind what came out. */
static reeve_outcome sign(reeve_task *task, reeve_next *next, void *user)
{
    char signed_result[8] = "";
    reeve_outcome outcome = reeve_next_run(next, task);
    reeve_bytes result = reeve_task_result(task);

    if (outcome != REEVE_OUTCOME_DONE || result.length > 6) return outcome;
    memcpy(signed_result, result.data, result.length);
    signed_result[result.length] = *(const char *)user;
    return reeve_task_done(task, signed_result, result.length + 1);
}

static const struct later_layer layers[] = {
    {{.size = sizeof(struct later_layer), .name = "outer", .run = sign, .user = &a}, {LAYER_TAIL}},
    {{.size = sizeof(struct later_layer), .name = "inner", .type = "new:b", .run = sign, .user = &b}, {LAYER_TAIL}},
};

static const struct later_plugin plugin = {
    {
        .size = sizeof(struct later_plugin),
        .abi = REEVE_PLUGIN_ABI,
        .handler_size = sizeof(struct later_handler),
        .name = "new",
        .handlers = &handlers[0].known,
        .handler_count = 2,
        .layers = &layers[0].known,
        .layer_count = 2,
        .layer_size = sizeof(struct later_layer),
    },
    {PLUGIN_TAIL},
};

REEVE_API const reeve_plugin *reeve_plugin_entry(void);
const reeve_plugin *reeve_plugin_entry(void)
{
    return &plugin.known;
}
