/*
 * new_abi1.c - a plugin of a later reeve with the same ABI: its structs have fields behind those that this version
 * knows.
 */
#include <reeve/plugin.h>

struct later_handler {
    reeve_handler known;
    const char *unknown[3];
};

struct later_plugin {
    reeve_plugin known;
    const char *unknown[5];
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

static const struct later_plugin plugin = {
    {
        .size = sizeof(struct later_plugin),
        .abi = REEVE_PLUGIN_ABI,
        .handler_size = sizeof(struct later_handler),
        .name = "new",
        .handlers = &handlers[0].known,
        .handler_count = 2,
    },
    {"x", "y", "z", "v", "w"},
};

REEVE_API const reeve_plugin *reeve_plugin_entry(void);
const reeve_plugin *reeve_plugin_entry(void)
{
    return &plugin.known;
}
