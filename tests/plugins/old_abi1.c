/*
 * old_abi1.c - a plugin as a program of long ago compiled it: it includes no header of reeve, and its structs are ABI
 * 1's of version 0.1.0 without the last fields. They are frozen; never bring them up to date. It must load for as long
 * as REEVE_PLUGIN_ABI is 1.
 */
#include <stddef.h>
#include <stdint.h>

struct task;
enum outcome { NONE = 0 };

struct backoff {
    int shape;
    int64_t base_ms;
    int64_t cap_ms;
    double jitter;
    int64_t list_ms[16];
};

struct handler {
    size_t size;
    const char *type;
    enum outcome (*run)(struct task *task, void *user);
    void *user;
    const char *summary;
    int attempts;
    int max_crashes;
    int64_t timeout_ms;
    struct backoff backoff;
    /* the hooks of threads and free_user came later */
};

struct plugin {
    size_t size;
    unsigned abi;
    size_t handler_size;
    const char *name;
    const char *version;
    const char *summary;
    const struct handler *handlers;
    size_t handler_count;
    /* concurrency, load and unload came later */
};

enum outcome reeve_task_done(struct task *task, const void *result, size_t length);

__attribute__((visibility("default"))) const struct plugin *reeve_plugin_entry(void);

static enum outcome first(struct task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, "first", 5);
}

static enum outcome second(struct task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, "second", 6);
}

/* What follows a description in memory must not be taken for fields that it does not have. */
static const struct {
    struct handler handlers[2];
    uintptr_t behind[8];
} table = {
    {{sizeof(struct handler), "old:first", first, NULL, "one", 3, 1, 2000, {1, 100, 200, -1, {0}}},
     {sizeof(struct handler), "old:second", second, NULL, "two", 0, 0, 0, {0, 0, 0, 0, {0}}}},
    {1, 1, 1, 1, 1, 1, 1, 1},
};

static const struct {
    struct plugin plugin;
    uintptr_t behind[8];
} description = {
    {sizeof(struct plugin), 1, sizeof(struct handler), "old", "0.1", "from long ago", table.handlers, 2},
    {1, 1, 1, 1, 1, 1, 1, 1},
};

const struct plugin *reeve_plugin_entry(void)
{
    return &description.plugin;
}
