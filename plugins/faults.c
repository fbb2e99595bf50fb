/*
 * faults.c - a layer that makes a share of the runs fail or start late, to try what becomes of them.
 *
 * A failure has the kind "fault" and is retried after the backoff, like any other.
 */
#include <errno.h>
#include <reeve/plugin.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#define STEP_MS 10

static double fail_share, lose_share, delay_share;
static int64_t delay_ms;
static const char *only_type;   /* the option's own text */
static _Atomic uint64_t chance; /* the state of the generator */

/* [0, 1): splitmix64 (S. Vigna, public domain algorithm). */
static double roll(void)
{
    uint64_t z = atomic_fetch_add(&chance, 0x9e3779b97f4a7c15u) + 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* In small steps: a worker that stops does not have to wait. */
static void delay(const reeve_task *task)
{
    double left = (double)delay_ms;

    while (left > 0 && !reeve_task_should_stop(task)) {
        double step = left < STEP_MS ? left : STEP_MS;
        struct timespec time = {0, (long)(step * 1e6)};

        while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
        left -= step;
    }
}

static reeve_outcome faults(reeve_task *task, reeve_next *next, void *user)
{
    reeve_outcome outcome;

    (void)user;
    if (only_type != NULL && strcmp(only_type, reeve_task_type(task)) != 0) return reeve_next_run(next, task);
    if (roll() < fail_share) return reeve_task_retry(task, -1, "fault", "failed on purpose, before it ran");
    if (roll() < delay_share) delay(task);
    outcome = reeve_next_run(next, task);
    if (roll() < lose_share) return reeve_task_retry(task, -1, "fault", "failed on purpose, after it ran");
    return outcome;
}

static int load(const reeve_options *options)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail on Linux */
    atomic_store(&chance, (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec);
    only_type = reeve_option_text(options, "type");
    fail_share = reeve_option_number(options, "fail");
    lose_share = reeve_option_number(options, "lose");
    delay_share = reeve_option_number(options, "delay");
    delay_ms = reeve_option_ms(options, "delay_for");
    return 0;
}

#define SHARE(option, help)                                                                                    \
    {                                                                                                          \
        REEVE_OPTION, .name = option, .type = REEVE_OPTION_NUMBER, .max = 1, .otherwise = "0", .summary = help \
    }

static const reeve_option options[] = {
    SHARE("fail", "the share of runs that fail instead of running"),
    SHARE("lose", "the share of runs whose outcome is replaced by a failure after they ran"),
    SHARE("delay", "the share of runs that are delayed before they run"),
    {REEVE_OPTION, .name = "delay_for", .type = REEVE_OPTION_SECONDS, .max = 1e9, .otherwise = "0.1",
     .summary = "by how many seconds they are delayed"},
    {REEVE_OPTION, .name = "type", .summary = "only runs of this type"},
};

static const reeve_layer layers[] = {
    {REEVE_LAYER, .name = "faults", .run = faults, .summary = "fails or delays a share of the runs"},
};

REEVE_PLUGIN(.name = "faults", .version = REEVE_VERSION, .summary = "makes runs fail or start late, for tests",
             .layers = layers, .layer_count = 1, .options = options,
             .option_count = sizeof(options) / sizeof(options[0]), .load_with_options = load)
