/*
 * timing.c - a layer that logs runs that take long, with the trace that they belong to.
 *
 * Option "slow": how many seconds a run may take before it is logged (1; 0: every run is).
 */
#include <reeve/plugin.h>
#include <stdio.h>
#include <time.h>

static int64_t max_ms;

static double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail on Linux */
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void tell(reeve_task *task, long long us, reeve_outcome outcome)
{
    const char *trace = reeve_task_meta(task, "traceparent"); /* (asked for only when there is something to tell) */
    char took[32], attempt[16];
    reeve_log_field fields[] = {
        {"task", reeve_task_handle(task)},
        {"type", reeve_task_type(task)},
        {"ms", took},
        {"outcome", reeve_outcome_name(outcome)},
        {"attempt", attempt},
        {"traceparent", trace},
    };

    (void)snprintf(took, sizeof(took), "%lld.%03lld", us / 1000, us % 1000);
    (void)snprintf(attempt, sizeof(attempt), "%u", reeve_task_attempt(task));
    reeve_log_write(REEVE_LOG_WARN, "timing.slow", "a task took long", fields, trace != NULL ? 6 : 5);
}

static reeve_outcome timing(reeve_task *task, reeve_next *next, void *user)
{
    double began = now_ms();
    reeve_outcome outcome = reeve_next_run(next, task);
    double ms = now_ms() - began;

    (void)user;
    if (ms >= (double)max_ms) tell(task, (long long)(ms * 1000), outcome);
    return outcome;
}

static int load(const reeve_options *options)
{
    max_ms = reeve_option_ms(options, "slow");
    return 0;
}

static const reeve_option options[] = {
    {REEVE_OPTION, .name = "slow", .type = REEVE_OPTION_SECONDS, .max = 1e9, .otherwise = "1",
     .summary = "runs of this time and more are logged"},
};

static const reeve_layer layers[] = {
    {REEVE_LAYER, .name = "timing", .run = timing, .summary = "logs runs that take long"},
};

REEVE_PLUGIN(.name = "timing", .version = REEVE_VERSION, .summary = "logs runs that take long", .layers = layers,
             .layer_count = 1, .options = options, .option_count = 1, .load_with_options = load)
