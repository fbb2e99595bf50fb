/*
 * bad.c - plugins that must not load, one for each way to be wrong: compiled once for each BAD_..., see
 * tests/CMakeLists.txt. What is not wrong in a kind is right.
 */
#include <reeve/plugin.h>

REEVE_API extern void test_plugin_saw(const char *event) __attribute__((weak));

static reeve_outcome run(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

static const reeve_handler handlers[] = {
#if defined(BAD_TYPE)
    {REEVE_HANDLER, .type = "fine", .run = run},
    {REEVE_HANDLER, .type = "not fine", .run = run},
#elif defined(BAD_NO_TYPE)
    {REEVE_HANDLER, .run = run},
#elif defined(BAD_DUPLICATE)
    {REEVE_HANDLER, .type = "twin", .run = run},
    {REEVE_HANDLER, .type = "other", .run = run},
    {REEVE_HANDLER, .type = "twin", .run = run},
#elif defined(BAD_NO_RUN)
    {REEVE_HANDLER, .type = "busy", .run = run},
    {REEVE_HANDLER, .type = "idle"},
#elif defined(BAD_BACKOFF)
    {REEVE_HANDLER, .type = "fine", .run = run},
    {REEVE_HANDLER, .type = "listless", .run = run, .backoff.shape = REEVE_BACKOFF_LIST},
#elif defined(BAD_HANDLER_SMALL)
    {.size = sizeof(size_t), .type = "small", .run = run},
#elif defined(BAD_HANDLER_LARGE)
    {.size = sizeof(reeve_handler) + 8, .type = "large", .run = run},
#else
    {REEVE_HANDLER, .type = "fine", .run = run},
#endif
};

static reeve_outcome around(reeve_task *task, reeve_next *next, void *user)
{
    (void)user;
    return reeve_next_run(next, task);
}

static const reeve_layer layers[] = {
    {REEVE_LAYER, .name = "fine", .run = around},
#if defined(BAD_LAYER_NO_NAME)
    {REEVE_LAYER, .run = around},
#elif defined(BAD_LAYER_NO_RUN)
    {REEVE_LAYER, .name = "idle"},
#elif defined(BAD_LAYER_TYPE)
    {REEVE_LAYER, .name = "odd", .type = "not fine", .run = around},
#elif defined(BAD_LAYER_SMALL)
    {.size = sizeof(size_t), .name = "small", .run = around},
#endif
};

/* Nothing of a plugin that is refused may run, but its load hook when all else is right. */
static const reeve_option options[] = {
#if defined(BAD_OPTION_NAME)
    {REEVE_OPTION, .name = "No Name"},
#elif defined(BAD_OPTION_TWICE)
    {REEVE_OPTION, .name = "one"},
    {REEVE_OPTION, .name = "one"},
#elif defined(BAD_OPTION_DEFAULT)
    {REEVE_OPTION, .name = "one", .type = REEVE_OPTION_WHOLE, .max = 5, .otherwise = "6"},
#elif defined(BAD_OPTION_RANGE)
    {REEVE_OPTION, .name = "one", .type = REEVE_OPTION_WHOLE, .min = 5},
#elif defined(BAD_OPTION_TYPE)
    {REEVE_OPTION, .name = "one", .type = (reeve_option_type)9},
#else
    {REEVE_OPTION, .name = "one", .type = REEVE_OPTION_WHOLE, .max = 5, .otherwise = "5"},
#endif
};

static int load(void)
{
    if (test_plugin_saw != NULL) test_plugin_saw("load");
#if defined(BAD_LOAD)
    return 3;
#else
    return 0;
#endif
}

static void unload(void)
{
    if (test_plugin_saw != NULL) test_plugin_saw("unload");
}

static const reeve_plugin plugin = {
    .size = sizeof(reeve_plugin),
    .abi = REEVE_PLUGIN_ABI,
    .handler_size = sizeof(reeve_handler),
    .name = "bad",
    .handlers = handlers,
    .handler_count = sizeof(handlers) / sizeof(handlers[0]),
    .load = load,
    .unload = unload,
    .layers = layers,
    .layer_count = sizeof(layers) / sizeof(layers[0]),
    .layer_size = sizeof(reeve_layer),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .option_size = sizeof(reeve_option),
};

#if defined(BAD_NO_ENTRY)
#define ENTRY some_other_name
#else
#define ENTRY reeve_plugin_entry
#endif

REEVE_API const reeve_plugin *ENTRY(void);
const reeve_plugin *ENTRY(void)
{
    static reeve_plugin wrong;

    wrong = plugin;
#if defined(BAD_NULL)
    return NULL;
#elif defined(BAD_ABI)
    wrong.abi = 77;
#elif defined(BAD_TINY)
    wrong.size = 4;
#elif defined(BAD_SMALL)
    wrong.size = offsetof(reeve_plugin, handlers);
#elif defined(BAD_HUGE)
    wrong.size = (size_t)1 << 40;
#elif defined(BAD_STRIDE_ZERO)
    wrong.handler_size = 0;
#elif defined(BAD_STRIDE_ODD)
    wrong.handler_size = sizeof(reeve_handler) + 1;
#elif defined(BAD_STRIDE_HUGE)
    wrong.handler_size = (size_t)1 << 40;
#elif defined(BAD_COUNT)
    wrong.handler_count = (size_t)1 << 40;
#elif defined(BAD_EMPTY)
    wrong.handler_count = wrong.layer_count = 0;
#elif defined(BAD_LAYER_COUNT)
    wrong.layer_count = REEVE_LAYERS_MAX + 1;
#elif defined(BAD_LAYER_STRIDE)
    wrong.layer_size = sizeof(size_t);
#elif defined(BAD_LAYER_NO_TABLE)
    wrong.layers = NULL;
#elif defined(BAD_NO_TABLE)
    wrong.handlers = NULL;
#elif defined(BAD_OPTION_COUNT)
    wrong.option_count = REEVE_OPTIONS_MAX + 1;
#elif defined(BAD_OPTION_STRIDE)
    wrong.option_size = 8;
#elif defined(BAD_NO_NAME)
    wrong.name = NULL;
#elif defined(BAD_UNDEFINED)
    extern int a_symbol_that_nobody_has(void);
    wrong.concurrency = (unsigned)a_symbol_that_nobody_has();
#endif
    return &wrong;
}
