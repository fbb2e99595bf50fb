/*
 * new_abi1.c - a plugin of a later reeve with the same ABI: its structs have fields behind those that this version
 * knows.
 */
#include <reeve/plugin.h>
#include <string.h>

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
    {{.size = sizeof(struct later_handler), .type = "new:a", .run = run, .user = &a}, {"x", "y", "z"}},
    {{.size = sizeof(struct later_handler), .type = "new:b", .run = run, .user = &b}, {"x", "y", "z"}},
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
    {{.size = sizeof(struct later_layer), .name = "outer", .run = sign, .user = &a}, {"x", "y"}},
    {{.size = sizeof(struct later_layer), .name = "inner", .type = "new:b", .run = sign, .user = &b}, {"x", "y"}},
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
    {"x", "y", "z", "v", "w"},
};

REEVE_API const reeve_plugin *reeve_plugin_entry(void);
const reeve_plugin *reeve_plugin_entry(void)
{
    return &plugin.known;
}
