/*
 * sample.c - types to try things with: noop, echo, sleep, steps, fail, crash, collect.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "payload.h"

#define SLEEP_MAX_MS ((int64_t)24 * 3600 * 1000)
#define STEP_US 10000
#define TIMES_MAX 1000000

static reeve_outcome noop(reeve_task *task, void *user)
{
    (void)user;
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome echo(reeve_task *task, void *user)
{
    reeve_bytes payload = reeve_task_payload(task);

    (void)user;
    return reeve_task_done(task, payload.data, payload.length);
}

/* ---- sleep ----------------------------------------------------------------------------------------------------- */

static int64_t now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail on Linux */
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void sleep_until(int64_t when_us)
{
    struct timespec when = {when_us / 1000000, when_us % 1000000 * 1000};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR) {}
}

/* In small steps, so that a worker that stops does not have to wait. */
static reeve_outcome sleep_for(reeve_task *task, int64_t ms)
{
    int64_t now = now_us();
    int64_t end = now + ms * 1000 + 1; /* 1: the clock was cut to whole microseconds */

    while (now < end) {
        if (reeve_task_should_stop(task)) return reeve_task_snooze(task, 0);
        sleep_until(end - now < STEP_US ? end : now + STEP_US);
        now = now_us();
    }
    return reeve_task_done(task, NULL, 0);
}

static reeve_outcome sleep_task(reeve_task *task, void *user)
{
    const char *why = NULL;
    cJSON *payload = payload_parse(reeve_task_payload(task), &why);
    int64_t ms = payload_number(payload, "ms", SLEEP_MAX_MS, -1);

    (void)user;
    cJSON_Delete(payload);
    if (why != NULL) return reeve_task_fail(task, "payload", "%s", why);
    if (ms < 0) return reeve_task_fail(task, "payload", "expected: {\"ms\":n}, n a whole number from 0 to one day");
    return sleep_for(task, ms);
}

/* ---- steps ----------------------------------------------------------------------------------------------------- */

/* A step is done: it need not be done again. False: the lease is lost. */
static bool note_step(reeve_task *task, int64_t done, int64_t steps)
{
    char text[24];
    int length = snprintf(text, sizeof(text), "%" PRId64, done);

    return reeve_task_checkpoint(task, text, (size_t)length) != REEVE_EREFUSED &&
           reeve_task_progress(task, (int)(100 * done / steps), NULL) != REEVE_EREFUSED;
}

static reeve_outcome take_steps(reeve_task *task, int64_t first, int64_t steps, int64_t ms)
{
    char result[96];

    (void)reeve_task_log(task, "attempt %u begins after step %" PRId64, reeve_task_attempt(task), first);
    for (int64_t done = first; done < steps; done++) {
        if (reeve_task_should_stop(task)) return reeve_task_snooze(task, 0);
        sleep_until(now_us() + ms * 1000);
        if (!note_step(task, done + 1, steps)) return reeve_task_snooze(task, 0);
    }
    (void)snprintf(result, sizeof(result), "{\"steps\":%" PRId64 ",\"of_this_attempt\":%" PRId64 "}", steps,
                   steps - first);
    return reeve_task_done(task, result, strlen(result));
}

static reeve_outcome steps_task(reeve_task *task, void *user)
{
    const char *why = NULL;
    cJSON *payload = payload_parse(reeve_task_payload(task), &why);
    int64_t steps = payload_number(payload, "steps", TIMES_MAX, -1);
    int64_t ms = payload_number(payload, "ms", SLEEP_MAX_MS, 0);
    reeve_bytes last;

    (void)user;
    cJSON_Delete(payload);
    if (why != NULL) return reeve_task_fail(task, "payload", "%s", why);
    if (steps < 1 || ms < 0)
        return reeve_task_fail(task, "payload", "expected: {\"steps\":n,\"ms\":n}, at least one step");
    if (reeve_task_last_checkpoint(task, &last) != REEVE_OK)
        return reeve_task_retry(task, -1, "redis", "the last checkpoint could not be read");
    return take_steps(task, last.data == NULL ? 0 : atoll(last.data), steps, ms);
}

/* ---- fail ------------------------------------------------------------------------------------------------------ */

/* NULL: every member at its default. */
static reeve_outcome fail_as_asked(reeve_task *task, const cJSON *payload)
{
    const char *kind = payload_text(payload, "kind", "sample");
    const char *message = payload_text(payload, "message", "asked to fail");
    int64_t times = payload_number(payload, "times", TIMES_MAX, INT64_MAX);

    if (kind == NULL || message == NULL || times < 0) {
        return reeve_task_fail(task, "payload",
                               "expected: {\"kind\":\"k\",\"message\":\"m\",\"times\":n}, each optional");
    }
    if (reeve_task_attempt(task) > times) return reeve_task_done(task, NULL, 0);
    return reeve_task_retry(task, -1, kind, "%s", message);
}

static reeve_outcome fail(reeve_task *task, void *user)
{
    reeve_bytes bytes = reeve_task_payload(task);
    const char *why = NULL;
    cJSON *payload;
    reeve_outcome outcome;

    (void)user;
    if (bytes.length == 0) return fail_as_asked(task, NULL);
    payload = payload_parse(bytes, &why);
    outcome = payload != NULL ? fail_as_asked(task, payload) : reeve_task_fail(task, "payload", "%s", why);
    cJSON_Delete(payload);
    return outcome;
}

/* ---- crash ----------------------------------------------------------------------------------------------------- */

static reeve_outcome crash(reeve_task *task, void *user)
{
    char *volatile nowhere = (char *)16; /* in the first page, which is never mapped; volatile, so that it is tried */

    (void)user;
    *nowhere = 1;
    return reeve_task_done(task, NULL, 0);
}

/* ---- collect --------------------------------------------------------------------------------------------------- */

/* Stands for what is cheaper together: each task's result is how many it came with. */
static void collect(reeve_task *const *tasks, size_t count, void *user)
{
    char result[32];
    size_t length = (size_t)snprintf(result, sizeof(result), "{\"together\":%zu}", count);

    (void)user;
    for (size_t i = 0; i < count; i++) (void)reeve_task_done(tasks[i], result, length);
}

static const reeve_handler handlers[] = {
    {REEVE_HANDLER, .type = "noop", .run = noop, .summary = "does nothing"},
    {REEVE_HANDLER, .type = "echo", .run = echo, .summary = "the result is the payload"},
    {REEVE_HANDLER, .type = "sleep", .run = sleep_task, .summary = "{\"ms\":n}: sleeps n milliseconds"},
    {REEVE_HANDLER, .type = "steps", .run = steps_task,
     .summary = "{\"steps\":n,\"ms\":n}: so many steps of so many milliseconds, with a checkpoint after each"},
    {REEVE_HANDLER, .type = "fail", .run = fail,
     .summary = "{\"kind\":\"k\",\"message\":\"m\",\"times\":n}: fails its first n attempts, every one without times"},
    {REEVE_HANDLER, .type = "crash", .run = crash, .summary = "a segmentation fault"},
    {REEVE_HANDLER, .type = "collect", .run_batch = collect, .batch_size = 100, .batch_wait_ms = 500,
     .summary = "{\"together\":n}: how many tasks its call had"},
};

REEVE_PLUGIN(.name = "sample", .version = REEVE_VERSION, .summary = "types to try things with", .handlers = handlers,
             .handler_count = sizeof(handlers) / sizeof(handlers[0]))
