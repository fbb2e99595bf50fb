/*
 * old_abi1_hooks.c - as old_abi1.c: a plugin of the time when there were hooks and no layers. Its structs are frozen;
 * never bring them up to date. It must load for as long as REEVE_PLUGIN_ABI is 1.
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
    int (*thread_start)(void *user, void **ret_state);
    void (*thread_stop)(void *user, void *state);
    void (*free_user)(void *user);
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
    unsigned concurrency;
    int (*load)(void);
    void (*unload)(void);
    /* layers came later */
};

enum outcome reeve_task_done(struct task *task, const void *result, size_t length);
void *reeve_task_thread_state(const struct task *task);

__attribute__((visibility("default"))) const struct plugin *reeve_plugin_entry(void);

static char state[] = "state";

static int load(void)
{
    return 0;
}

static void unload(void)
{
    state[0] = 'S';
}

static int thread_start(void *user, void **ret_state)
{
    (void)user;
    *ret_state = state;
    return 0;
}

static void thread_stop(void *user, void *thread_state)
{
    (void)user;
    (void)thread_state;
}

static enum outcome run(struct task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, reeve_task_thread_state(task), 5);
}

static const struct {
    struct handler handlers[1];
    uintptr_t behind[8];
} table = {
    {{sizeof(struct handler),
      "old:hooks",
      run,
      NULL,
      "hooks",
      0,
      0,
      0,
      {0, 0, 0, 0, {0}},
      thread_start,
      thread_stop,
      NULL}},
    {1, 1, 1, 1, 1, 1, 1, 1},
};

/* What follows a description in memory must not be taken for fields that it does not have. */
static const struct {
    struct plugin plugin;
    uintptr_t behind[8];
} description = {
    {sizeof(struct plugin), 1, sizeof(struct handler), "old", "0.1", "from the time of hooks", table.handlers, 1, 2,
     load, unload},
    {1, 1, 1, 1, 1, 1, 1, 1},
};

const struct plugin *reeve_plugin_entry(void)
{
    return &description.plugin;
}
