/*
 * timing.c - a layer that logs runs that take long, with the trace that they belong to.
 *
 * REEVE_TIMING_MS: how many milliseconds a run may take before it is logged (1000; 0: every run is).
 */
#include <reeve/plugin.h>
#include <stdio.h>
#include <time.h>

#include "settings.h"

static double max_ms;

static double now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail on Linux */
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void tell(reeve_task *task, double ms, reeve_outcome outcome)
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

    (void)snprintf(took, sizeof(took), "%.3f", ms);
    (void)snprintf(attempt, sizeof(attempt), "%u", reeve_task_attempt(task));
    reeve_log_write(REEVE_LOG_WARN, "timing.slow", "a task took long", fields, trace != NULL ? 6 : 5);
}

static reeve_outcome timing(reeve_task *task, reeve_next *next, void *user)
{
    double began = now_ms();
    reeve_outcome outcome = reeve_next_run(next, task);
    double ms = now_ms() - began;

    (void)user;
    if (ms >= max_ms) tell(task, ms, outcome);
    return outcome;
}

static int load(void)
{
    return setting_number(&max_ms, "REEVE_TIMING_MS", 1e12, 1000) ? 0 : 1;
}

static const reeve_layer layers[] = {
    {REEVE_LAYER, .name = "timing", .run = timing, .summary = "logs runs of REEVE_TIMING_MS milliseconds and more"},
};

REEVE_PLUGIN(.name = "timing", .version = REEVE_VERSION, .summary = "logs runs that take long", .layers = layers,
             .layer_count = 1, .load = load)
